# SPDX-License-Identifier: Apache-2.0
"""No file of the program is touched, whatever it does with its descriptors and limits."""
import os
import subprocess

from harm import TMESIS, Skip, case, check


def large_file(bench):
    with open(bench.path("data"), "wb") as file:
        file.write(bytes(range(256)) * 4096 * 20)


def compare_recorded(bench, program, *words):
    """The same for `record`, which writes far more."""
    large_file(bench)
    with open(bench.path("data"), "rb") as file:
        before = file.read()
    done = bench.tmesis("record", "-o", os.path.join(bench.directory, "out.tms"), "--",
                        program, *words)
    with open(bench.path("data"), "rb") as file:
        check(file.read() == before, f"data has changed\n{done}")
    return done.expect(0)


@case("a program closes every descriptor and opens a file of its own")
def closefrom(bench):
    program = bench.build("descriptors.c")
    bench.compare(program, "closefrom", setup=large_file).expect(0)
    compare_recorded(bench, program.watched, "closefrom")


@case("a program puts its file over every descriptor")
def dup2(bench):
    program = bench.build("descriptors.c")
    bench.compare(program, "dup2", setup=large_file).expect(0)
    compare_recorded(bench, program.watched, "dup2")


@case("an unmodified program closes every descriptor", compilers=False)
def unmodified(bench):
    program = bench.build("descriptors.c")
    large_file(bench)
    with open(bench.path("data"), "rb") as file:
        before = file.read()
    bench.tmesis("run", "--engine=sidetrack", program.native, "closefrom").expect(0)
    with open(bench.path("data"), "rb") as file:
        check(file.read() == before, "data has changed")


@case("standard descriptors are closed at the start")
def closed(bench):
    program = bench.build("descriptors.c")
    for closing in ("<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"):
        after = []  # the program itself writes to descriptor 1, whatever that is
        for words in ((program.native,), (TMESIS, "run", "--json=r.json", program.watched)):
            large_file(bench)
            bench.run("bash", "-c", f'exec "$0" "$@" {closing}', *words, "open")
            with open(bench.path("data"), "rb") as file:
                after.append(file.read())
        check(after[0] == after[1], f"data is not as natively with {closing}")
        with open(bench.path("r.json"), encoding="utf-8") as file:
            check(file.read().startswith('{"'), f"no report with {closing}")


@case("a limit on the size of files")
def file_size(bench):
    program = bench.build("processes.c")
    bench.compare(program, "file-size").expect(0)
    native = bench.run("bash", "-c", 'ulimit -f 64; exec "$0" "$@"', program.native, "file-size")
    # A limit of 64 KiB from the start: too little for a spool, so the program runs unwatched, with a warning.
    done = bench.run("bash", "-c", 'ulimit -f 64; exec "$0" "$@"', TMESIS, "run",
                     program.watched, "file-size")
    check(done.out == native.out, str(done))
    done.expect(125, says="could not be watched: File too large")


@case("a full file system")
def full(bench):
    if os.geteuid() != 0:
        raise Skip("mounting a small file system needs root")
    small = os.path.join(bench.directory, "small")
    os.mkdir(small)
    mounted = bench.run("mount", "-t", "tmpfs", "-o", "size=2M", "none", small)
    if mounted.status != 0:
        raise Skip("no file system can be mounted here")
    try:
        program = bench.build("descriptors.c")
        native = bench.run(program.native)
        env = {"TMPDIR": small}
        done = bench.tmesis("record", "-o", os.path.join(bench.directory, "cut.tms"),
                            program.watched, env=env)
        check(done.out == native.out, f"another output\n{native}\n{done}")
        done.expect(3, says="is incomplete")
        bench.tmesis("check", os.path.join(bench.directory, "cut.tms")).expect(3)
        bench.run("dd", "if=/dev/zero", "of=" + os.path.join(small, "ballast"), "bs=4096")
        done = bench.tmesis("run", program.watched, env=env)
        check(done.out in (native.out, ""), f"another output\n{done}")
        done.expect(125)
    finally:
        subprocess.run(["umount", small], check=True)


@case("a set-user-ID program ignores the environment")
def set_uid(bench):
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    program = bench.build("processes.c")
    os.chmod(bench.directory, 0o755)
    target = bench.write("target", "precious\n")
    os.chmod(program.watched, 0o4755)
    runner = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    env = {"TMESIS_RT_SPOOL": target, "TMESIS_RT_MODE": "record"}
    done = bench.run(*runner, program.watched, env=env)
    if "setpriv" in done.err:
        raise Skip("there is no setpriv")
    done.expect(0)
    env["TMESIS_RT_SPOOL"] = os.path.join(bench.work, "%p.made")
    os.chmod(bench.work, 0o777)
    bench.run(*runner, program.watched, env=env).expect(0)
    check(sorted(os.listdir(bench.work)) == ["target"], "a file was made")
    with open(target, encoding="utf-8") as file:
        check(file.read() == "precious\n", "the file has changed")
    os.chmod(bench.tmp, 0o777)
    done = bench.run(*runner, TMESIS, "run", program.watched)
    done.expect(125, says="set-user-ID")
    check(done.out == "", "it ran")


@case("a spool is never made where there is a file")
def no_overwriting(bench):
    program = bench.build("processes.c")
    target = bench.write("target", "precious\n")
    for pattern in (target, bench.path("link%p")):
        bench.run(program.watched, env={"TMESIS_RT_SPOOL": pattern, "TMESIS_RT_MODE": "record"})
        with open(target, encoding="utf-8") as file:
            check(file.read() == "precious\n", f"{pattern}: the file has changed")


@case("a core file is no larger than natively", compilers=False)
def core(bench):
    program = bench.build("processes.c")
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        if file.read().strip() not in ("core", "core.%p"):
            raise Skip("the system puts core files elsewhere")
    bench.run("bash", "-c", 'ulimit -c unlimited; exec "$0" "$@"', TMESIS, "run",
              program.watched, "abort")
    for name in os.listdir(bench.work):
        size = os.stat(bench.path(name)).st_size
        check(size < 100 << 20, f"{name} has {size} bytes")
