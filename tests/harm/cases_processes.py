# SPDX-License-Identifier: Apache-2.0
"""Processes that fork, become another program, end suddenly, or restrict themselves: they behave as
they do natively, and no verdict covers what was not seen."""
import glob
import json
import os

from harm import TMESIS, Skip, case, check


def verdicts(done):
    return sorted(result["verdict"] for process in done.results
                  for result in process["results"] if result["engine"] == "frontier")


@case("child processes are judged, however they are made")
def children(bench):
    program = bench.build("processes.c")
    for how in ("fork", "system-call", "clone"):
        done = bench.compare(program, how).expect(0)
        check(verdicts(done) == ["serializable"] * 2, f"{how}: {verdicts(done)}\n{done}")


# A lock that stays taken shows in about half of the runs. `make test-long` has more of them.
@case("a child does not wait for locks of threads that it does not have", compilers=False)
def busy_forks(bench):
    program = bench.build("busy_forks.c")
    for _ in range(int(os.environ.get("FORK_RUNS", "2"))):
        bench.compare(program).expect(0)


@case("a recording of a child is whole")
def recorded_children(bench):
    program = bench.build("processes.c")
    for how in ("fork", "system-call", "clone"):
        bench.tmesis("record", "-o", "out.tms", program.watched, how).expect(0)
        traces = sorted(glob.glob(bench.path("out.tms*")))
        check(len(traces) == 2, f"{how}: {traces}")
        for trace in traces:
            bench.tmesis("check", trace).expect(0, says="serializable")
            os.unlink(trace)


@case("a child that can't be watched makes the verdict incomplete")
def unwatched_children(bench):
    if os.geteuid() != 0:
        raise Skip("setuid and chroot need root")
    program = bench.build("processes.c")
    for how in ("setuid", "chroot"):
        done = bench.compare(program, how).expect(3, says="could not be watched")
        check("incomplete" in verdicts(done), f"{how}: {verdicts(done)}")
        bench.tmesis("record", "-o", "out.tms", program.watched, how).expect(3)
        bench.tmesis("check", "out.tms").expect(3, says="incomplete")


@case("a program started with an empty environment makes the verdict incomplete")
def clean_environment(bench):
    program = bench.build("processes.c")
    bench.compare(program, "clean-exec").expect(3, says="an environment that lacks")
    done = bench.watch(program, "fork", options=["--exit-code=0"])
    done.expect(0, silent_about="an environment that lacks")


@case("a child that outlives its parent makes the verdict incomplete")
def orphans(bench):
    program = bench.build("processes.c")
    done = bench.compare(program, "orphan").expect(3)
    check("incomplete" in verdicts(done), f"{verdicts(done)}\n{done}")


@case("both images of a process are recorded")
def images(bench):
    program = bench.build("processes.c")
    bench.tmesis("record", "-o", "out.tms", program.watched, "exec").expect(0)
    traces = glob.glob(bench.path("out.tms*"))
    check(len(traces) == 3, f"the program, what it became, and a child of that: {traces}")
    for trace in traces:
        bench.tmesis("check", trace).expect(0, says="serializable")


@case("what a process did before it ended suddenly was seen")
def sudden_ends(bench):
    program = bench.build("processes.c")
    for how in ("kill", "overflow"):
        bench.compare(program, how).expect(silent_about="no block")
    bench.compare(program, "exit_group").expect(0, silent_about="no block")


@case("a recording that was cut is remembered as cut", compilers=False)
def cut(bench):
    program = bench.build("processes.c")
    for name in ("out.tms", "out.std", "out.std.gz"):
        bench.tmesis("record", "--max-size=1", "-o", name, program.watched).expect(3)
        bench.tmesis("check", name).expect(3, says="--max-size")
        bench.tmesis("convert", name, "again.tms").expect(3)
        bench.tmesis("check", "again.tms").expect(3, says="--max-size")


@case("mlockall locks what the program touches")
def mlockall(bench):
    program = bench.build("processes.c")
    bench.compare(program, "mlockall", timeout=20).expect(0)


@case("an unlimited stack")
def unlimited_stack(bench):
    program = bench.build("processes.c")
    for wrapper in ('ulimit -s unlimited; exec "$0" "$@"', 'exec setarch -L "$0" "$@"',
                    'exec setarch -R "$0" "$@"'):
        done = bench.run("bash", "-c", wrapper, TMESIS, "run", "--json=r.json", program.watched)
        if "setarch" in done.err:
            continue
        done.expect(0, says="serializable")


@case("a process in a seccomp sandbox lives")
def seccomp(bench):
    done = bench.compare(bench.build("processes.c"), "seccomp")
    check("still alive" in done.out, str(done))
    done.expect(3)


@case("a block without a name is refused")
def nameless(bench):
    bench.compare(bench.build("processes.c"), "nameless").expect(0, says="without a name")


@case("SIGPIPE is inherited as it is", compilers=False)
def sigpipe(bench):
    program = bench.build("processes.c")
    bench.compare(program, "sigpipe")
    for trap in ("", "trap '' PIPE; "):
        words = ("bash", "-c", trap + 'exec "$0" "$@"')
        native = bench.run(*words, program.native, "sigpipe")
        watched = bench.run(*words, TMESIS, "run", "-q", program.watched, "sigpipe")
        check(native.out == watched.out, f"{native}\n{watched}")


@case("threads that are over leave no room unused")
def thread_churn(bench):
    program = bench.build("processes.c")
    # Four thousand threads of a handful of events each: 64 KiB for each would be 256 MB.
    done = bench.tmesis("record", "--max-size=16M", "-o", "out.tms", program.watched, "threads")
    done.expect(0)
    bench.tmesis("check", "out.tms").expect(0, says="serializable")
    bench.watch(program, "threads", options=["--max-size=16M"]).expect(0)


@case("a child that the program makes without libc stops writing", compilers=False)
def bare_system_call(bench):
    program = bench.build("bare_fork.c")
    done = bench.compare(program)
    check(len(json.dumps(done.results)) > 2, "no report")
    bench.tmesis("record", "-o", "out.tms", program.watched)
    bench.tmesis("check", "out.tms").expect(silent_about="damaged")
