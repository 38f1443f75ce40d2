#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# C++ is inlined and keeps its blocks: the hooks that the compilers add, and what call stacks look
# like. How inlined functions are left is in runtime/inlined.cpp, which is built here once more
# with the C++ library inside.
# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    root=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return
    cat >box.cpp <<'C'
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
static std::mutex lock;
static int total;
static std::map<std::string, int> names;
static void add() { std::lock_guard<std::mutex> held(lock); total++; }
struct Box {
    void twice(const std::function<void()> &f) { f(); f(); }
    void both() { twice([] { add(); }); }
};
static int compare(const void *, const void *) { add(); return 0; }
static void sort_all() { int all[3] = {1, 2, 3}; qsort(all, 3, sizeof *all, compare); }
static void go()
{
    Box box;
    for (int i = 0; i < 200; i++) {
        box.both();
        sort_all();
    }
}
int main()
{
    names["x"]++;
    std::thread one(go), other(go);
    one.join();
    other.join();
}
C
}

both() {
    for TMESIS_CC in gcc clang; do
        export TMESIS_CC
        echo "--- $TMESIS_CC"
        "$@"
    done
}

# hooks OBJECT: how many calls of the hooks there are at entries, those before inlining first.
hooks() {
    objdump -d -r "$1" | grep -c -- "__cyg_profile_func_enter" || true
    objdump -d -r "$1" | grep -c -- "__tsan_func_entry" || true
}

@test "functions of the program have hooks, those of the C++ library have none" {
    kinds() {
        "$tmesis" c++ -O2 -std=c++17 -c box.cpp
        mapfile -t counts < <(hooks box.o)
        echo "${counts[@]}"
        ((counts[0] >= 8 && counts[0] < 80 && counts[1] == 0))
        "$tmesis" c++ -O2 -std=c++17 --tmesis-inline=none -c box.cpp
        mapfile -t counts < <(hooks box.o)
        ((counts[0] == 0 && counts[1] > 80))
    }
    both kinds
}

@test "every standard of C++ compiles with them, and what only preprocesses" {
    standards() {
        for standard in 98 11 17 20; do
            "$tmesis" c++ -Wall -Wextra -Werror -std=c++$standard -c \
                -x c++ <(echo '#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <valarray>
int main() { std::cout << std::string("x"); }') -o all.o
        done
        "$tmesis" c++ -Werror -E box.cpp -o box.ii
        "$tmesis" c++ -Werror -std=c++17 -O2 -c box.ii -o box.o
        "$tmesis" c++ -Werror -std=c++17 -S -MMD box.cpp -o box.s
        "$tmesis" c++ -Werror -c box.s -o box.o
    }
    both standards
}

@test "call stacks name functions around those without hooks, and inlined ones once" {
    stacks() {
        "$tmesis" c++ -g -O2 -std=c++17 box.cpp -o box
        for ((seed = 1; seed <= 20; seed++)); do
            "$tmesis" run --perturb=$seed --engine=frontier --verbose ./box 2>report || true
            grep -q 'observed: .*Box::both()' report && break
        done
        grep -q 'observed: .*Box::both()' report
        sed -nE 's/^ *(event [0-9]+ in|from) (.*) \(.*:[0-9]+\)$/\2/p' report | tr '\n' ';' >ways
        cat ways
        grep -qF 'Box::twice(std::function<void ()> const&);Box::both();go();' ways
        grep -qE 'compare\(void const\*, void const\*\);msort[^;]*;sort_all\(\);go\(\);' ways
        run ! grep -qF 'Box::both();Box::both();' ways
    }
    both stacks
}

@test "a C++ library that is linked statically hides exceptions, and nothing false follows" {
    hidden() {
        "$tmesis" cc -fno-sanitize=thread -c "$root/tests/weave/turn.c"
        "$tmesis" c++ -g -O2 -std=c++17 -static-libstdc++ -static-libgcc -I"$root/tests" \
            "$root/tests/e2e/runtime/inlined.cpp" turn.o -o inlined
        for way in return throw cleanup jump room; do
            "$tmesis" run --engine=frontier '--atomic=Cell::cut*' ./inlined $way
        done
        "$tmesis" run --engine=frontier --atomic=outside ./inlined twice
    }
    both hidden
}

@test "a gcc that can't do it forbids inlining" {
    cat >g++ <<'END'
#!/bin/sh
[ "$1" = -dumpversion ] && echo 10 && exit
echo "$@"
END
    chmod +x g++
    TMESIS_CXX=$PWD/g++ tms c++ -c box.cpp
    [[ $output == *-fno-inline* && $output != *-finstrument-functions* ]]
    TMESIS_CXX=$PWD/g++ tms c++ --tmesis-inline=all -c box.cpp
    [[ $output != *-fno-inline* && $output != *-finstrument-functions* ]]
}
