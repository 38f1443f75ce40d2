# SPDX-License-Identifier: Apache-2.0
"""Traces of extreme shape: every engine ends soon and in bounded memory, or says what it left out."""
import resource

from harm import case, check

MANY = 100_000
SECONDS = 20  # a quadratic engine needs minutes
MEMORY = 1 << 30


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def judge(bench, engine, trace, *options):
    return bench.tmesis("check", f"--engine={engine}", *options, trace, timeout=SECONDS,
                        preexec_fn=limit_memory)


def hold_many(thread, release_order):
    yield f"{thread}|begin(all)"
    for lock in range(MANY):
        yield f"{thread}|acq(l{lock})"
    yield f"{thread}|w(x)"
    for lock in release_order(range(MANY)):
        yield f"{thread}|rel(l{lock})"
    yield f"{thread}|end"


def many_locks(bench):
    """The first locks are taken again in T1's block, so that T2 is a culprit."""
    lines = list(hold_many("T1", iter))
    lines[-1:] = ["T1|acq(l0)", "T1|rel(l0)", "T1|end"]
    lines += hold_many("T2", reversed)
    return bench.write("locks.std", "\n".join(lines) + "\n")


@case("sidetrack with 100,000 locks held at once", compilers=False)
def sidetrack_locks(bench):
    trace = many_locks(bench)
    for options in ((), ("--predict=shared,barrier,wait,atomic,variable",)):
        judge(bench, "sidetrack", trace, *options).expect(0, says="predicted: an atomic block")


@case("lockset engines with 100,000 locks held at once", compilers=False)
def lockset_locks(bench):
    trace = many_locks(bench)
    for engine in ("goodlock", "atomizer", "reduction", "blocks"):
        done = judge(bench, engine, trace)
        check(done.status in (0, 3), f"expected a verdict\n{done}")
        check("held more than 512 locks" in " ".join((done.out + done.err).split()),
              f"expected to hear what was left out\n{done}")


@case("reduction with 400,000 blocks inside each other", compilers=False)
def nested_blocks(bench):
    lines = [f"T1|begin(b{i % 100})" for i in range(4 * MANY)]
    lines += ["T1|r(x)", "T2|w(x)", "T1|w(x)"]
    lines += ["T1|end"] * 4 * MANY
    trace = bench.write("nested.std", "\n".join(lines) + "\n")
    judge(bench, "reduction", trace).expect(0)
