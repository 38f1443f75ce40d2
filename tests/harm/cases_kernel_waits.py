# SPDX-License-Identifier: Apache-2.0
"""Waiting in the kernel: results, errno, interruption and cancellation are those of the native
program, under a check and while everything is recorded."""
from harm import case, check


def waits(how):
    @case(f"waits in the kernel are {how}")
    def compared(bench):
        program = bench.build("kernel_waits.c")
        bench.compare(program, how)
        native = bench.run(program.native, how).expect(0)
        check("\n" in native.out, f"the program says nothing\n{native}")
        for kind in ([], ["--full"], ["--full", "--perturb=1"]):
            done = bench.tmesis("record", "-q", *kind, "-o", "t.tms", "--", program.watched, how)
            check(done.out == native.out and done.status == 0, f"{native}\n{done}")


for each_how in ("interrupted", "cancelled", "refused", "fulfilled"):
    waits(each_how)
