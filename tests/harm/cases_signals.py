# SPDX-License-Identifier: Apache-2.0
"""Signal handlers that do what handlers should not: the program behaves as it does natively, and no
thread waits for one that has left."""
from harm import case


def jump_out(how):
    @case(f"a handler leaves by siglongjmp: {how}")
    def jumps(bench):
        program = bench.build("jump_out.c")
        bench.compare(program, how, options=("--exit-code=0", "--atomic=look"), timeout=10)


for each_how in ("plain", "nested", "stack"):
    jump_out(each_how)
