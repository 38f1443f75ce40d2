# SPDX-License-Identifier: Apache-2.0
"""Threads: the report on them does not depend on when they get to run."""
from harm import case, check

RUNS = 8


@case("the start routine of a thread is called directly, too")
def start_routine(bench):
    program = bench.build("start_routine.c")
    for words in (["after"], ["before"], ["c11"]):
        for _ in range(RUNS):
            done = bench.watch(program, *words).expect(silent_about="predicted:")
            check(done.status in (0, 3), str(done))  # 3: there was no block at all


@case("main returns while other threads run")
def exiting(bench):
    program = bench.build("exiting.c")
    for run in range(RUNS):
        done = bench.tmesis("run", "-q", "--", "sh", "-c", f"{program.watched} {500 * run}; echo $?")
        check(done.out == "7\n", str(done))
