# SPDX-License-Identifier: Apache-2.0
"""The results in the README and the demo are those of every run, on a busy machine too."""
import os
import subprocess

from harm import TOP, case

RUNS = 10
LOST = "✗ deposit() is not atomic: an update of account.balance was lost"


@case("the lost update of the bank is reported in every run with delays")
def bank(bench):
    source = os.path.join(TOP, "examples/bank/buggy.c")
    bench.tmesis("cc", "-g", source, "-o", bench.path("bank"),
                 env={"TMESIS_CC": bench.compiler}).expect(0)
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        for _ in range(RUNS):
            bench.tmesis("run", "--perturb", "./bank").expect(66, says=LOST)
    finally:
        for process in busy:
            process.kill()
            process.wait()
