# SPDX-License-Identifier: Apache-2.0
"""No file of the program is touched, whatever it does with its descriptors."""
from harm import case


def large_file(bench):
    with open(bench.path("data"), "wb") as file:
        file.write(bytes(range(256)) * 4096 * 20)


@case("a program closes every descriptor and opens a file of its own")
def closefrom(bench):
    bench.compare(bench.build("descriptors.c"), "closefrom", setup=large_file)


@case("a program puts its file over every descriptor")
def dup2(bench):
    bench.compare(bench.build("descriptors.c"), "dup2", setup=large_file)
