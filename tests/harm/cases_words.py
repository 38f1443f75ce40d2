# SPDX-License-Identifier: Apache-2.0
"""A wrong command or a wrong program gets a helpful message before it runs."""
import os
import shutil
import subprocess
import time

from harm import GOLDEN, TMESIS, Skip, case, check

TRACE = os.path.join(GOLDEN, "lost-update-locked.std")


def not_started(bench):
    check(not os.path.exists(bench.path("ready")), "the program was started")


@case("a command that is a file, a program that is somewhere else", compilers=False)
def wrong_words(bench):
    program = bench.build("busy.c").watched
    shutil.copy(program, bench.path("prog"))
    shutil.copy(TRACE, bench.path("t.std"))
    bench.tmesis("./prog").expect(2, says="tmesis run ./prog")
    bench.tmesis("prog").expect(2, says="tmesis run ./prog")
    bench.tmesis("t.std").expect(2, says="tmesis check t.std")
    bench.tmesis("run", "prog", "1").expect(125, says="prog is not on PATH; for the one in this "
                                            "directory write ./prog")
    bench.tmesis("record", "-o", "x", "prog", "1").expect(125, says="write ./prog")
    bench.tmesis("run", "--perturb", "7", "./prog", "1").expect(125, says="--perturb=7")
    bench.tmesis("run", "--json", "./prog").expect(125, says="--json took ./prog for its value")
    bench.tmesis("run", "--json", "./prog", "1").expect(125, says="--json took ./prog, which is one")
    bench.tmesis("record", "-o", "./prog").expect(125, says="--output took ./prog for its value")
    for command in (["check"], ["info"], ["refine"], ["convert", "--to=std"]):
        words = command + ["./prog"] + (["x.std"] if "convert" in command else [])
        bench.tmesis(*words).expect(2, says="./prog: is a program, not a trace; tmesis run")
    not_started(bench)
    check(sorted(os.listdir(bench.work)) == ["prog", "t.std"], f"{os.listdir(bench.work)}")


@case("a program that can't be watched is refused before it runs")
def unwatchable(bench):
    program = bench.build("busy.c")
    foreign = bench.path("foreign")
    shutil.copy(program.native, foreign)
    with open(foreign, "r+b") as file:
        file.seek(18)
        file.write(b"\xb7\x00")  # e_machine: AArch64
    bench.tmesis("run", foreign).expect(125, says="is not a program for x86-64")
    source = os.path.join(os.path.dirname(__file__), "programs", "busy.c")
    static = bench.path("static")
    if bench.run(bench.compiler, "-D_GNU_SOURCE", "-static", source, "-pthread", "-o",
                 static).status == 0:
        bench.tmesis("run", static, "1").expect(125, says="it is linked statically, so no library "
                                                "can be loaded into it")
        bench.tmesis("record", "-o", "x", static, "1").expect(125, says="linked statically")
    not_started(bench)
    # One that was not built for it is watched by its locks, and so are those that it starts.
    done = bench.tmesis("run", "sh", "-c", program.watched + " 1")
    done.expect(0, says="sh was not built with tmesis cc: its locks and threads are watched, its "
                "memory is not")


@case("a program without symbols or lines is remarked upon")
def bare(bench):
    program = bench.build("busy.c").watched
    bench.tmesis("run", program, "1").expect(0, silent_about="stripped").expect(
        silent_about="debug information, so")
    source = os.path.join(os.path.dirname(__file__), "programs", "busy.c")
    plain = bench.path("plain")
    bench.tmesis("cc", "-D_GNU_SOURCE", "-pthread", source, "-o", plain,
                 env={"TMESIS_CC": bench.compiler}).expect(0)
    bench.run("strip", "-g", plain).expect(0)
    bench.tmesis("run", plain, "1").expect(says="plain has no debug information, so source lines")
    bench.run("strip", plain).expect(0)
    bench.tmesis("run", plain, "1").expect(says="plain is stripped, so functions")
    bench.tmesis("run", "-q", plain, "1").expect(silent_about="stripped")


@case("a misspelt variable is remarked upon", compilers=False)
def variables(bench):
    shutil.copy(TRACE, bench.path("t.std"))
    bench.tmesis("check", "t.std", env={"TMESIS_ENGIN": "reference"}).expect(
        1, says="TMESIS_ENGIN in the environment is not a variable of tmesis; did you mean "
        "TMESIS_ENGINE?")
    bench.tmesis("check", "t.std", env={"TMESIS_ENGINE": "reference", "TMESIS_CC": "x",
                                        "TMESIS_HOME": "x"}).expect(1, silent_about="in the env")


@case("standard output of a recording is the program's")
def record_to_standard_output(bench):
    program = bench.build("busy.c").watched
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        bench.tmesis("record", "-o", name, program, "1").expect(125, says="would mix the trace")
    not_started(bench)


@case("TMPDIR may have %p in its name")
def percent(bench):
    program = bench.build("busy.c").watched
    folder = bench.path("a%pb%p")
    os.mkdir(folder)
    bench.tmesis("run", program, "1", env={"TMPDIR": folder}).expect(0)
    bench.tmesis("record", "-o", "x.tms", program, "1", env={"TMPDIR": folder}).expect(0)
    check(not os.listdir(folder), "something is left")


@case("text is as wide as COLUMNS says", compilers=False)
def columns(bench):
    shutil.copy(TRACE, bench.path("t.std"))
    for wide in (60, 70, 140):
        for words in (["check", "--engine=frontier", "t.std"], ["check", "--help"]):
            done = bench.tmesis(*words, env={"COLUMNS": str(wide)})
            lines = (done.err + done.out).splitlines()
            # The verdict line and the command to type next are one line however long.
            text = [n for n in lines if not n.startswith(("t.std:", "  tmesis", "Usage"))]
            check(max(map(len, text)) <= wide, f"wider than {wide}\n{done}")
    wide = bench.tmesis("check", "--engine=frontier", "t.std", env={"COLUMNS": "140"})
    check(max(map(len, wide.err.splitlines()[1:])) > 100, f"not as wide as asked\n{wide}")


@case("a long window of zstd is named, not called damage", compilers=False)
def long_window(bench):
    if shutil.which("zstd") is None:
        raise Skip("there is no zstd")
    with open(bench.path("t.zst"), "wb") as file, open(TRACE, "rb") as trace:
        subprocess.run(["zstd", "-q", "--ultra", "--long=31", "-c"], stdin=trace, stdout=file,
                       check=True)
    bench.tmesis("check", "t.zst").expect(2, says="zstd -d --long=31").expect(
        silent_about="damaged")
    done = bench.run("sh", "-c", 'zstd -q -d --long=31 -c t.zst | "$0" check -q -', TMESIS)
    done.expect(1)


@case("a child process has its own seconds, and a command to type")
def children(bench):
    program = bench.build("parent.c")
    start = time.monotonic()
    done = bench.watch(program, options=("--engine=frontier,sidetrack",))
    whole = time.monotonic() - start
    by_length = sorted(r["trace"]["seconds"] for r in done.results)
    check(len(by_length) == 2, f"two processes expected\n{done}")
    check(by_length[0] < 0.5 <= by_length[1] <= whole, f"seconds: {by_length}\n{done}")
    following = [n for n in done.err.splitlines() if n.startswith("  tmesis run")]
    check(following and all(", process" not in n and program.watched in n for n in following),
          f"Next: {following}")
