# SPDX-License-Identifier: Apache-2.0
"""The runtime uses no more than 1 KiB of the program's stack."""
import os
import shutil

import stack_depth
from harm import BUILD, TMESIS, Skip, case, check

MOST = 1024


def used(bench, *words, env=None):
    """How much of its painted stacks a program has used."""
    path = os.path.join(bench.directory, "used")
    bench.run(*words, path, env=env).expect(0)
    with open(path, encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


@case("threads and handlers with little stack")
def painted(bench):
    """The same binary, watched and not: the difference is what the runtime uses."""
    program = bench.build("small_stacks.cpp")
    trace = os.path.join(bench.directory, "t.tms")
    for how, binary in ((["run", "--exit-code=0"], program.watched),
                        (["run", "--exit-code=0", "--engine=frontier"], program.watched),
                        (["record", "-o", trace], program.watched),
                        (["record", "--full", "-o", trace], program.watched),
                        (["run", "--exit-code=0", "--engine=sidetrack"], program.native)):
        unwatched = used(bench, binary)
        watched = used(bench, TMESIS, *how, "--", binary)
        check(all(w <= u + MOST for w, u in zip(watched, unwatched)),
              f"{' '.join(how)}: {watched} bytes of stack, without tmesis {unwatched}")


@case("no way through the runtime takes more stack", compilers=False)
def depth(_):
    if not shutil.which("objdump"):
        raise Skip("there is no objdump")
    beyond = stack_depth.Depths(os.path.join(BUILD, "runtime/tmesis-rt.o")).entries_beyond(MOST)
    check(not beyond, "\n".join(beyond))
