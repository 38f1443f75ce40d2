# SPDX-License-Identifier: Apache-2.0
"""Locks that are misused, or handed over in ways the runtime does not see: the run ends
with a verdict all the same, and a recording of it can be checked."""
from harm import case, check

STRANGE = "a lock was released by a thread that had not taken it"


def judge(bench, program, word, block, cut=False):
    """The same verdict by `run --strict`, and of both kinds of recordings by `check`."""
    atomic = "--atomic=" + block
    done = [bench.watch(program, word, options=(atomic, "--strict")).expect(66 if cut else 0)]
    for kind in ([], ["--full"]):
        done.append(bench.tmesis("record", atomic, *kind, "-o", "t.tms", "--", program.watched,
                                 word).expect(0))
        bench.tmesis("check", "t.tms").expect(1 if cut else 0)
    return done


def say_it_once(done):
    for each in done:
        check(each.flat.count(STRANGE) == 1, f"expected once: {STRANGE}\n{each}")


@case("threads release mutexes for each other")
def turns(bench):
    program = bench.build("foreign_unlock.c")
    bench.compare(program, "turns")
    say_it_once(judge(bench, program, "turns", "count"))


@case("an atomic block is cut where another thread releases its mutex")
def cut(bench):
    program = bench.build("foreign_unlock.c")
    say_it_once(judge(bench, program, "cut", "deposit", cut=True))


@case("another thread releases a read-write lock")
def reader(bench):
    program = bench.build("foreign_unlock.c")
    bench.compare(program, "reader")
    say_it_once(judge(bench, program, "reader", "count"))


@case("a mutex refuses to be released by another thread")
def refused(bench):
    program = bench.build("foreign_unlock.c")
    bench.compare(program, "refused").expect(silent_about=STRANGE)
    judge(bench, program, "refused", "count")


@case("a child releases the locks that its parent took before the fork")
def atfork(bench):
    program = bench.build("foreign_unlock.c")
    bench.compare(program, "atfork").expect(silent_about=STRANGE)


def hand_over(way):
    @case(f"objects with locks in them are handed over by {way}")
    def handed_over(bench):
        program = bench.build("handover.c")
        bench.compare(program, way)
        judge(bench, program, way, "touch")
        judge(bench, program, way, "work")


for each_way in ("pipe", "socket", "eventfd", "epoll", "signal", "shared"):
    hand_over(each_way)
