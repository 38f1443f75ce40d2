# SPDX-License-Identifier: Apache-2.0
"""Every system call of a kind fails once, one after the other, in the command and in the watched
program. programs/inject.c says how. The program cuts a block apart in every run, so a run that
ends with 0 or says "serializable" has lost something without telling.

Of calls of which there are many, some are tried; all with FAULTS=all in the environment."""
import errno
import json
import os
import shutil

from harm import FLAGS, HERE, TMESIS, Skip, case, check, snapshot

# What may fail, and how.
CALLS = {"mmap": errno.ENOMEM, "open": errno.EMFILE, "write": errno.ENOSPC,
         "ftruncate": errno.EIO, "fallocate": errno.ENOSPC, "rename": errno.EXDEV,
         "close": errno.EIO, "mkdir": errno.ENOSPC, "fork": errno.EAGAIN, "pipe": errno.EMFILE,
         "stat": errno.EIO, "madvise": errno.ENOMEM, "socket": errno.EMFILE}
MOST = 10**6 if os.environ.get("FAULTS") == "all" else 6  # of one kind in one case
OLD = "old\n"
VIOLATION, NO_THREAD, INCOMPLETE, BAD_INPUT, BAD_RUN, BROKEN = 66, 7, 3, 2, 125, 99
TRACE = "\n".join(["T1|begin(deposit)", "T1|r(x)", "T2|w(x)", "T1|w(x)", "T1|end(deposit)", ""])


def build(bench):
    bench.inject = bench.compile(os.path.join(bench.programs, "inject"), "gcc", *FLAGS,
                                 os.path.join(HERE, "programs/inject.c"))
    probe = bench.run(bench.inject, "command", "mkdir", "1", "0", "count", "true")
    if probe.status == BROKEN:
        raise Skip("no seccomp user notification here: " + probe.flat)


class Fault:
    def __init__(self, who, call, number, done):
        self.who, self.call, self.number, self.done = who, call, number, done

    def require(self, condition, text):
        check(condition, f"{text}, when call {self.number} of {self.call} of {self.who} failed\n"
                         f"{self.done}")


def prepare(bench):
    shutil.rmtree(bench.work)
    os.mkdir(bench.work)
    for name in ("out.json", "out.tms"):
        bench.write(name, OLD)
    bench.write("in.std", TRACE)


def require_harmless(bench, fault):
    """Checks that apply to every command. Returns the files that exist now."""
    done, files = fault.done, snapshot(bench.work)
    fault.require(done.status < 128 and done.status != BROKEN, "it crashed")
    fault.require(done.status == 0 or done.err or fault.call == "write", "it said nothing")
    fault.require(not bench.left_behind(), f"TMPDIR holds {bench.left_behind()}")
    fault.require(sorted(files) == ["in.std", "out.json", "out.tms"], f"there are {sorted(files)}")
    fault.require(files["in.std"] == TRACE.encode(), "the input has changed")
    return files


def numbers(total):
    """Which of 1 to `total` are tried: the last always, and others evenly before it."""
    step = max(1, -(-total // MOST))
    return range(total, 0, -step)


def each(bench, who, words, judge):
    """Runs the command once per call that can fail, and judges each run."""
    count = os.path.join(bench.directory, "count")

    def attempt(call, error, number):
        prepare(bench)
        done = bench.run(bench.inject, who, call, str(error), str(number), count, *words)
        fault = Fault(who, call, number, done)
        judge(fault, require_harmless(bench, fault))
        with open(count, encoding="utf-8") as file:
            return int(file.read())

    for call, error in CALLS.items():
        for number in numbers(attempt(call, error, 0)):
            attempt(call, error, number)


def each_allocation(bench, words, judge):
    library = bench.compile(os.path.join(bench.programs, "no_memory.so"), "gcc", *FLAGS, "-shared",
                            "-fPIC", os.path.join(HERE, "programs/no_memory.c"))
    count = os.path.join(bench.directory, "count")

    def attempt(number):
        prepare(bench)
        done = bench.run(*words, env={"LD_PRELOAD": library, "NO_MEMORY_AT": str(number),
                                      "NO_MEMORY_COUNT": count})
        fault = Fault("command", "malloc", number, done)
        judge(fault, require_harmless(bench, fault))
        with open(count, encoding="utf-8") as file:
            return int(file.read())

    for number in numbers(attempt(0)):
        attempt(number)


# By the definition: whether data was affected depends on how often the program polls.
RUN = [TMESIS, "run", "--strict", "--atomic=deposit", "--json=out.json"]


def whole_json(fault, files):
    if files["out.json"] != OLD.encode():
        lines = files["out.json"].decode().splitlines()
        fault.require(lines, "the JSON is empty")
        for line in lines:
            json.loads(line)


def judge_run(fault, files):
    whole_json(fault, files)
    allowed = (VIOLATION, INCOMPLETE, BAD_RUN) + (
        (NO_THREAD,) if fault.who == "others" else ())
    fault.require(fault.done.status in allowed, "an unexpected status")
    if fault.done.status != NO_THREAD:
        fault.require(": serializable" not in fault.done.flat, "it claims too much")
    if fault.done.status == VIOLATION:
        fault.require(files["out.json"] != OLD.encode(), "the JSON is missing")


def judge_record(bench):
    def judge(fault, files):
        fault.require(fault.done.status in (0, INCOMPLETE, BAD_RUN, NO_THREAD),
                      "an unexpected status")
        if fault.done.status == 0:
            fault.require(files["out.tms"] != OLD.encode(), "no trace was written")
        if files["out.tms"] != OLD.encode() and fault.done.status != NO_THREAD:
            checked = bench.tmesis("check", "-q", "out.tms")
            fault.require(checked.status in (1, INCOMPLETE), f"the trace is not whole\n{checked}")
    return judge


def judge_check(fault, files):
    whole_json(fault, files)
    fault.require(fault.done.status in (1, BAD_INPUT, INCOMPLETE), "an unexpected status")
    if fault.done.status == 1:
        fault.require(files["out.json"] != OLD.encode(), "the JSON is missing")


def judge_convert(fault, files):
    fault.require(fault.done.status in (0, BAD_INPUT), "an unexpected status")
    fault.require((files["out.tms"] == OLD.encode()) == (fault.done.status != 0),
                  "the trace is not what the status says")


@case("system calls of `run` fail", compilers=False)
def run_command(bench):
    build(bench)
    cut = bench.build("cut.c").watched
    each(bench, "command", RUN + [cut], judge_run)


@case("system calls of a program under `run` fail", compilers=False)
def run_program(bench):
    build(bench)
    cut = bench.build("cut.c").watched
    each(bench, "others", RUN + [cut], judge_run)


@case("system calls of an ordinary program under `run` fail", compilers=False)
def run_ordinary(bench):
    build(bench)
    cut = bench.build("cut.c").native
    each(bench, "others", [TMESIS, "run", "--engine=sidetrack", "--fail-on=potential",
                           "--json=out.json", cut], judge_run)


@case("system calls of `record` fail", compilers=False)
def record_command(bench):
    build(bench)
    cut = bench.build("cut.c").watched
    each(bench, "command", [TMESIS, "record", "-o", "out.tms", cut], judge_record(bench))


@case("system calls of a program under `record` fail", compilers=False)
def record_program(bench):
    build(bench)
    cut = bench.build("cut.c").watched
    each(bench, "others", [TMESIS, "record", "-o", "out.tms", cut], judge_record(bench))


@case("system calls of `check` fail", compilers=False)
def check_command(bench):
    build(bench)
    each(bench, "command", [TMESIS, "check", "--json=out.json", "in.std"], judge_check)


@case("system calls of `convert` fail", compilers=False)
def convert_command(bench):
    build(bench)
    each(bench, "command", [TMESIS, "convert", "in.std", "out.tms"], judge_convert)


@case("allocations of commands fail", compilers=False)
def allocations(bench):
    cut = bench.build("cut.c").watched
    each_allocation(bench, RUN + [cut], judge_run)
    each_allocation(bench, [TMESIS, "record", "-o", "out.tms", cut], judge_record(bench))
    each_allocation(bench, [TMESIS, "check", "--json=out.json", "in.std"], judge_check)
    each_allocation(bench, [TMESIS, "convert", "in.std", "out.tms"], judge_convert)
