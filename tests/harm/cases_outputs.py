# SPDX-License-Identifier: Apache-2.0
"""Outputs are written completely or not at all, never replace an input, and leave no other files."""
import os
import resource
import shutil
import signal
import subprocess
import time

from harm import GOLDEN, TMESIS, Skip, case, check, snapshot

TRACE = os.path.join(GOLDEN, "lost-update-locked.std")


def trace(bench, name="t.std"):
    shutil.copy(TRACE, bench.path(name))
    return name


def unchanged(bench, *names):
    with open(TRACE, "rb") as file:
        wanted = file.read()
    for name in names:
        with open(bench.path(name), "rb") as file:
            check(file.read() == wanted, f"{name} was changed")


# ---- output over input ------------------------------------------------------------------------

@case("an output does not replace a trace that is read", compilers=False)
def over_input(bench):
    trace(bench)
    os.link(bench.path("t.std"), bench.path("hard.std"))
    os.symlink("t.std", bench.path("soft.std"))
    for name in ("t.std", "./t.std", "hard.std", "soft.std", bench.path("t.std")):
        for words in (["check", "--json=" + name, "t.std"], ["check", "--json=" + name, "-"],
                      ["check", "--json=" + name, "/dev/stdin"],
                      ["check", "--json=" + name, "/proc/self/fd/0"],
                      ["refine", "--json=" + name, "t.std"], ["refine", "-o", name, "t.std"],
                      ["convert", "t.std", name], ["convert", "-", name],
                      ["convert", "/dev/stdin", name],
                      ["check", "--json=" + name, "--spec=t.std", TRACE],
                      ["refine", "-o", name, "--spec=t.std", TRACE]):
            with open(bench.path("t.std"), "rb") as stdin:
                bench.tmesis(*words, stdin=stdin).expect(2, says="the same file")
    check(sorted(snapshot(bench.work)) == ["hard.std", "soft.std", "t.std"], "something is left")
    unchanged(bench, "t.std", "hard.std")


@case("standard output does not grow the trace that is read", compilers=False)
def appended(bench):
    trace(bench)
    for words in ("check --json t.std", "convert --to=std t.std -", "refine t.std"):
        bench.run("sh", "-c", f'exec "$0" {words} >>t.std', TMESIS).expect(2, says="the same file")
    unchanged(bench, "t.std")


@case("an output does not replace the program")
def over_program(bench):
    program = bench.build("lost_update.c").watched
    link = bench.path("link")
    os.symlink(program, link)
    os.link(program, bench.path("hard"))
    with open(program, "rb") as file:
        before = file.read()
    for name in (program, link, bench.path("hard")):
        bench.tmesis("run", "--json=" + name, program).expect(125, says="the same file")
        bench.tmesis("record", "-o", name, program).expect(125, says="the same file")
        bench.tmesis("run", "--json=" + name, os.path.basename(program),
                     env={"PATH": os.path.dirname(program) + ":" + os.environ["PATH"]}
                     ).expect(125, says="the same file")
    bench.write("rules", "atomic deposit\n")
    bench.tmesis("record", "-o", "rules", "--spec=rules", program).expect(125, says="the same file")
    with open(program, "rb") as file:
        check(file.read() == before, "the program was changed")


@case("two outputs are not one file", compilers=False)
def named_twice(bench):
    trace(bench)
    for words in (["-o", "x", "--json=./x"], ["-o", "x", "--json=" + bench.path("x")]):
        bench.tmesis("refine", *words, "t.std").expect(2, says="can't both go to")
        bench.write("x", "precious")
        bench.tmesis("refine", *words, "t.std").expect(2, says="can't both go to")
        os.unlink(bench.path("x"))


# ---- kinds of outputs -------------------------------------------------------------------------

@case("an output may be a link, a FIFO, a device or a descriptor", compilers=False)
def kinds(bench):
    trace(bench)
    os.symlink("target.json", bench.path("dangling"))
    bench.tmesis("check", "-q", "--json=dangling", "t.std").expect(1)
    check(os.path.islink(bench.path("dangling")), "the link was replaced")
    check(os.path.getsize(bench.path("target.json")) > 0, "the link's target is empty")
    bench.tmesis("check", "-q", "--json=/dev/null", "t.std").expect(1)
    check(not os.path.isfile("/dev/null"), "/dev/null was replaced")
    bench.run("sh", "-c", 'echo before >log; "$0" check -q --json=/dev/stdout t.std >>log; '
              'echo after >>log', TMESIS).expect(0)
    with open(bench.path("log"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    check(lines[0] == "before" and lines[-1] == "after" and lines[1].startswith("{"), f"{lines}")
    bench.run("sh", "-c", '"$0" convert -q --to=std t.std /dev/fd/3 3>copy.std', TMESIS).expect(0)
    unchanged(bench, "copy.std")
    os.mkfifo(bench.path("fifo"))
    done = bench.run("sh", "-c", '"$0" convert -q --to=std t.std fifo & cat fifo; wait', TMESIS)
    with open(TRACE, encoding="utf-8") as file:
        check(done.out == file.read(), f"through the FIFO came\n{done}")


@case("a full disk is named, and the old file stays", compilers=False)
def full(bench):
    trace(bench)
    for words in ("check --json=/dev/full t.std", "check --json t.std >/dev/full",
                  "info --all t.std >/dev/full", "refine t.std >/dev/full",
                  "gen --events 200k --to=std -o - >/dev/full",
                  "info --json big.std >/dev/full", "gen --events 10k -o /dev/full --to=std"):
        if "big.std" in words:
            bench.tmesis("gen", "-q", "--events", "50k", "--threads", "60", "--locks", "1000",
                         "--labels", "3000", "-o", "big.std").expect(0)
        bench.run("sh", "-c", f'exec "$0" {words}', TMESIS).expect(2, says="No space left")
    bench.write("old.json", "precious")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    bench.tmesis("check", "-q", "--json=old.json", "t.std", preexec_fn=small).expect(
        2, says="old.json could not be written: File too large")
    bench.tmesis("gen", "-o", "new.tms", preexec_fn=small).expect(2, says="File too large")
    with open(bench.path("old.json"), encoding="utf-8") as file:
        check(file.read() == "precious", "the old file was changed")
    check(sorted(os.listdir(bench.work)) == ["big.std", "old.json", "t.std"],
          f"left: {os.listdir(bench.work)}")


@case("a file that can only be overwritten is refused", compilers=False)
def no_room_beside(bench):
    if os.getuid() != 0:
        raise Skip("needs root, to become a user who may not write")
    folder = bench.path("closed")
    os.mkdir(folder)
    os.chmod(bench.directory, 0o755)
    shutil.copy(TRACE, os.path.join(folder, "old.std"))
    os.chmod(os.path.join(folder, "old.std"), 0o666)
    shutil.copy(TMESIS, os.path.join(bench.directory, "tmesis"))
    drop = {"user": 65534, "group": 65534, "extra_groups": []}
    bench.run("../tmesis", "gen", "-o", "closed/old.std", **drop).expect(
        2, says="closed/old.std can't be written: no new file can be created beside it: Permission")
    unchanged(bench, "closed/old.std")


# ---- interruption -----------------------------------------------------------------------------

def interrupt(bench, words, numbers, when, **options):
    """Starts the command, sends the signals once `when()` is true, and waits for its end."""
    with open(bench.path("printed"), "wb") as printed:
        process = subprocess.Popen([TMESIS, *words], cwd=bench.work, env=bench.environment,
                                   stdin=options.pop("stdin", subprocess.DEVNULL), stdout=printed,
                                   stderr=printed, start_new_session=True)
    end = time.monotonic() + 20
    while not when() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    for number in numbers:
        if process.poll() is None:
            os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
            time.sleep(0.05)
    try:
        return process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"{words} goes on after {numbers}") from None


def left_of(bench):
    return sorted(n for n in os.listdir(bench.work) if n not in ("printed", "big.std", "fifo", "old"))


ENDINGS = [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP]]


@case("an interrupted command leaves nothing, and the old file as it was", compilers=False)
def interrupted(bench):
    """Each waits for its input, or takes long, with its outputs already begun."""
    bench.write("old", "precious")
    os.mkfifo(bench.path("fifo"))
    commands = {
        "check": ["check", "--json=old", "fifo"], "check new": ["check", "--json=new", "fifo"],
        "refine": ["refine", "-o", "old", "--json=new", "fifo"],
        "convert": ["convert", "--from=std", "fifo", "new.std"],
        "gen": ["gen", "--events", "2G", "-o", "new.std"],
    }
    writer = os.open(bench.path("fifo"), os.O_RDWR)
    os.write(writer, b"T1|begin(m)\n")
    for name, words in commands.items():
        for numbers in ENDINGS:
            code = interrupt(bench, words, numbers,
                             lambda: any(n.endswith("~") for n in os.listdir(bench.work)))
            check(code == -numbers[0], f"{name}, {numbers}: status {code}")
            check(not left_of(bench), f"{name}, {numbers}: left {left_of(bench)}")
            with open(bench.path("old"), encoding="utf-8") as file:
                check(file.read() == "precious", f"{name} changed the old file")
    os.close(writer)


@case("an interrupted run or recording leaves no spool")
def interrupted_run(bench):
    program = bench.build("busy.c").watched
    bench.write("old", "precious")
    for words in (["run", "--json=new", program], ["record", "-o", "new.tms", program]):
        for numbers in ENDINGS + [[signal.SIGINT] * 5]:
            interrupt(bench, words, numbers, lambda: os.path.exists(bench.path("ready")))
            left = [n for n in left_of(bench) if n not in ("ready", "new", "new.tms")]
            check(not left and not bench.left_behind(),
                  f"{words}, {numbers}: left {left}, {bench.left_behind()}")
            for name in ("ready", "new", "new.tms"):
                if os.path.exists(bench.path(name)):
                    os.unlink(bench.path(name))


def program_is_over(bench, program):
    if not os.path.exists(bench.path("ended")):
        return False
    links = [f"/proc/{n}/exe" for n in os.listdir("/proc") if n.isdigit()]
    time.sleep(0.05)
    return program not in [os.readlink(n) for n in links if os.path.exists(n)]


@case("a report or trace being written can be interrupted")
def interrupted_report(bench):
    """The FIFO is not read, so the command blocks in a write, while the spool still exists."""
    program = bench.build("busy.c").watched
    os.mkfifo(bench.path("fifo"))
    for words in (["run", "--json=fifo", program, "1"], ["record", "-o", "fifo", program, "1"]):
        for numbers in ENDINGS:
            code = interrupt(bench, words, numbers, lambda: program_is_over(bench, program))
            check(code == -numbers[0], f"{words}, {numbers}: status {code}")
            check(not bench.left_behind(), f"{words}, {numbers}: left {bench.left_behind()}")
            for name in ("ready", "ended"):
                os.unlink(bench.path(name))


@case("an interrupted doctor leaves nothing", compilers=False)
def interrupted_doctor(bench):
    for numbers in ENDINGS:
        interrupt(bench, ["doctor"], numbers, bench.left_behind)
        end = time.monotonic() + 5
        while bench.left_behind() and time.monotonic() < end:  # the compiler's own files
            time.sleep(0.02)
        check(not bench.left_behind(), f"{numbers}: left {bench.left_behind()}")
