# SPDX-License-Identifier: Apache-2.0
"""What is recorded can be written in every format that holds it, and comes back the same."""
from harm import case, check


def contents(bench, name):
    with open(bench.path(name), "rb") as file:
        return file.read()


@case("a C++ recording goes to STD and back without loss")
def names_with_blanks(bench):
    program = bench.build("templates.cpp")
    for options in ((), ("--full",)):
        bench.tmesis("record", *options, "-o", "run.tms", "--", program.watched).expect(0)
        bench.tmesis("convert", "run.tms", "same.tms").expect(0)
        bench.tmesis("convert", "run.tms", "run.std").expect(0)
        bench.tmesis("convert", "run.std", "back.tms").expect(0)
        check(b"\\x20" in contents(bench, "run.std"), "no name has a blank")
        check(contents(bench, "same.tms") == contents(bench, "back.tms"), "the traces differ")
