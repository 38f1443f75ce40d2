# SPDX-License-Identifier: Apache-2.0
"""Programs that were not built with `tmesis cc`, with the preload library loaded into them: output,
exit status and files are as natively, and nothing is said of memory."""
import os
import shutil

from harm import Program, Skip, case, check

# Programs of this directory and what they are to do.
AWKWARD = {
    "bare_fork.c": ((),),
    "cut.c": ((),),
    "descriptors.c": (("closefrom",), ("dup2",), ("file-size",)),
    "foreign_unlock.c": (("turns",), ("reader",), ("refused",), ("atfork",)),
    "handover.c": ((),),
    "jump_out.c": (("plain",), ("nested",), ("stack",)),
    "lost_update.c": ((),),
    "processes.c": (("fork",), ("system-call",), ("clone",), ("clean-exec",), ("mlockall",),
                    ("seccomp",), ("sigpipe",), ("exit_group",)),
    "start_routine.c": ((),),
    "templates.cpp": ((),),
}


def large_file(bench):
    bench.write("data", "0123456789abcde\n" * 4096)


def awkward(source):
    @case(f"an unmodified program behaves as natively: {source}", compilers=False)
    def behaves(bench):
        native = bench.build(source).native
        for words in AWKWARD[source]:
            bench.compare(Program(native, native), *words, setup=large_file, timeout=30).expect(
                says="its memory is not")


for each_source in AWKWARD:
    awkward(each_source)


def tool(name, *words):
    @case(f"a program of the system behaves as natively: {name}", compilers=False)
    def behaves(bench):
        path = shutil.which(name, path="/usr/bin:/bin")
        if path is None:
            raise Skip(f"there is no {name}")

        def prepare(bench):
            large_file(bench)
            bench.write("script.py", PYTHON)
            bench.write("query.sql", SQL)
        bench.compare(Program(path, path), *words, setup=prepare)


PYTHON = """
import queue, threading
jobs, total, lock = queue.Queue(), [0], threading.Lock()
def work():
    while (job := jobs.get()) is not None:
        with lock:
            total[0] += job
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for i in range(200): jobs.put(i)
for thread in threads: jobs.put(None)
for thread in threads: thread.join()
print(total[0])
"""

SQL = """create table t(a, b);
with recursive c(i) as (values(1) union all select i + 1 from c where i < 5000)
insert into t select i, i * 7 % 101 from c;
pragma threads = 2;
select sum(a), b from t group by b order by 1 desc limit 5;
"""

tool("xz", "-T2", "-1", "-k", "--block-size=16KiB", "data")
tool("zstd", "-q", "-T2", "-k", "data")
tool("sort", "--parallel=2", "-o", "sorted", "data")
tool("python3", "script.py")
tool("sqlite3", ":memory:", ".read query.sql")
tool("git", "hash-object", "data")


@case("a shell script and what it starts", compilers=False)
def script(bench):
    native = bench.build("lost_update.c").native
    path = os.path.join(bench.programs, "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{native} | cat\n{native} & wait $!\necho $? \"$0\" | tail -c 3\n"
                   "exit 5\n")
    os.chmod(path, 0o755)
    done = bench.compare(Program(path, path)).expect(5, says="is a script")
    check(all("locks_only" in result["trace"] for result in done.results), f"{done.results}")
