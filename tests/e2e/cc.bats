#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The compiler wrapper: what it passes on, adds and refuses. Each test that compiles
# runs with gcc and with clang.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

# The programs are small and run unwatched: here it matters what they are made of.
sources() {
    cat >one.c <<'C'
int counter;
static int twice(int value) { counter += value; return 2 * value; }
int main(void) { return twice(21) - 42; }
C
    cat >lib.c <<'C'
static int total;
int add(int value) { return total += value; }
C
    cat >uses.c <<'C'
int add(int value);
int main(void) { add(1); return add(2) - 3; }
C
    cat >plus.cpp <<'C'
#include <stdexcept>
#include <vector>
struct account {
    int balance = 0;
    void pay(int sum) { if (sum < 0) throw std::invalid_argument("sum"); balance += sum; }
};
int main()
{
    std::vector<account> all(3);
    try { all[1].pay(3); all[2].pay(-1); } catch (const std::exception &) { return all[1].balance - 3; }
    return 1;
}
C
}

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    cd "$BATS_TEST_TMPDIR" || return
    sources
}

# both FUNCTION: calls it with the wrapper around gcc and around clang.
both() {
    for TMESIS_CC in gcc clang; do
        export TMESIS_CC
        echo "--- $TMESIS_CC"
        command -v "$TMESIS_CC" >/dev/null
        rm -rf ./*.o ./*.so ./*.d a.out prog
        "$@"
    done
}

# instrumented FILE: calls the runtime where it reads and writes memory.
instrumented() {
    objdump -d -r "$1" | grep -qE '__tsan_(write|read)[0-9]'
}

# ours PROGRAM: is linked with our runtime, not with the compiler's, and runs.
ours() {
    nm "$1" | grep -q ' [TW] __tsan_func_entry$'
    run ldd "$1"
    [[ $output != *tsan* ]]
    run nm "$1"
    [[ $output != *_ZN6__tsan* ]]
    instrumented "$1"
    "./$1"
}

@test "a program in one go" {
    program() {
        for level in -O0 -O1 -O2 -O3 -Os; do
            "$tmesis" cc $level -g one.c -o prog
            ours prog
        done
        "$tmesis" cc one.c
        ours a.out
        "$tmesis" cc lib.c uses.c -o prog
        ours prog
        "$tmesis" cc -x c -o prog - <one.c
        ours prog
        cp one.c one.txt
        "$tmesis" cc -o prog -x c one.txt
        ours prog
        "$tmesis" cc -pie -fPIE one.c -o prog
        ours prog
        "$tmesis" cc -no-pie -fno-pie one.c -o prog
        ours prog
    }
    both program
}

@test "a program in steps" {
    steps() {
        "$tmesis" cc -O2 -c lib.c
        "$tmesis" cc -O2 -c uses.c -o uses.o
        instrumented lib.o
        "$tmesis" cc lib.o uses.o -o prog
        ours prog
        "$tmesis" cc uses.c lib.o -o prog
        ours prog
        ar rc libadd.a lib.o
        "$tmesis" cc uses.o -L. -ladd -o prog
        ours prog
        "$tmesis" cc -r lib.o uses.o -o both.o
        run nm both.o
        [[ $output == *" U __tsan_func_entry"* ]]
        "$tmesis" cc both.o -o prog
        ours prog
    }
    both steps
}

@test "assembly, preprocessing, dependencies and syntax" {
    other_steps() {
        "$tmesis" cc -O2 -S one.c -o one.s
        grep -q __tsan_write4 one.s
        "$tmesis" cc -Werror -c one.s -o one.o
        "$tmesis" cc one.o -o prog
        ours prog
        rm one.s
        "$tmesis" cc -E one.c | grep -q 'int counter;'
        "$tmesis" cc -E - <one.c | grep -q 'int counter;'
        [[ $("$tmesis" cc -M uses.c) == "uses.o: uses.c"* ]]
        [ "$("$tmesis" cc -MM uses.c)" = "uses.o: uses.c" ]
        "$tmesis" cc -MD -MF deps.d -c one.c
        grep -q 'one.o: one.c' deps.d
        "$tmesis" cc -fsyntax-only one.c
        [ ! -e a.out ]
        echo 'int add(int value);' >add.h
        "$tmesis" cc add.h -o add.h.gch
        [ -s add.h.gch ]
        rm add.h.gch
    }
    both other_steps
}

@test "a shared library finds the runtime in the program" {
    library() {
        for undefined in '' -Wl,--no-undefined -Wl,-z,defs '-z defs'; do
            # shellcheck disable=SC2086 # one of them is two words, one is none
            "$tmesis" cc -O2 -shared -fPIC $undefined lib.c -o libadd.so
            run nm -D libadd.so
            [[ $output == *" U __tsan_func_entry"* ]]
            "$tmesis" cc uses.c -L. -ladd -Wl,-rpath,"$PWD" -o prog
            ours_in_program prog
        done
        "$tmesis" cc -fPIC -c lib.c
        "$tmesis" cc -shared lib.o -o libadd.so
        ours_in_program prog
    }
    ours_in_program() {
        nm -D "$1" | grep -q ' [TW] __tsan_func_entry$'
        ours_runs=$("./$1" && echo yes)
        [ "$ours_runs" = yes ]
    }
    both library
}

@test "C++, with exceptions and classes" {
    plus() {
        for level in -O0 -O2; do
            "$tmesis" c++ $level plus.cpp -o prog
            ours prog
        done
        "$tmesis" c++ -c plus.cpp
        "$tmesis" c++ plus.o -o prog
        ours prog
    }
    both plus
}

@test "the C++ compiler follows from the C compiler, or is named" {
    TMESIS_CC=clang run "$tmesis" c++ --version
    [[ $output == *clang* ]]
    TMESIS_CC=gcc run "$tmesis" c++ --version
    [[ $output == g++* ]]
    TMESIS_CC=clang TMESIS_CXX=g++ run "$tmesis" c++ --version
    [[ $output == g++* ]]
    run "$tmesis" c++ --version
    [[ $output == g++* ]]
    printf '#!/bin/sh\nexec "$@"\n' >through
    chmod +x through
    TMESIS_CC="./through gcc -DONE" "$tmesis" c++ plus.cpp -o prog
    ours prog
    TMESIS_CC=./through tms c++ plus.cpp
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: there is no C++ compiler known for TMESIS_CC=./through; name it in TMESIS_CXX" ]
}

@test "as one word, for CC and CXX" {
    words() {
        "$(dirname "$tmesis")/tmesis-cc" one.c -o prog
        ours prog
        "$(dirname "$tmesis")/tmesis-c++" plus.cpp -o prog
        ours prog
        [ "$("$(dirname "$tmesis")/tmesis-cc" -dumpversion)" = "$($TMESIS_CC -dumpversion)" ]
    }
    both words
}

@test "response files" {
    response() {
        printf '%s\n' '-O2 "one.c"' "-o 'my prog'" >words
        "$tmesis" cc @words
        ours 'my prog'
        echo '-c one.c -o one.o' >words
        echo '@words -g' >outer
        "$tmesis" cc @outer
        instrumented one.o
        echo '-fsanitize=thread one.o -o prog\ two' >words
        "$tmesis" cc @words
        ours 'prog two'
    }
    both response
    run "$tmesis" cc @nowhere
    [ "$status" -eq 1 ]
}

@test "link-time optimisation" {
    lto() {
        "$tmesis" cc -O2 -flto -c lib.c
        "$tmesis" cc -O2 -flto -c uses.c
        "$tmesis" cc -O2 -flto lib.o uses.o -o prog
        ours prog
        "$tmesis" cc -O2 -flto lib.c uses.c -o prog
        ours prog
    }
    both lto
}

@test "what the user says of sanitizers" {
    sanitizers() {
        "$tmesis" cc -fsanitize=thread one.c -o prog
        ours prog
        "$tmesis" cc -fsanitize=thread,undefined one.c -o prog
        ours prog
        "$tmesis" cc -fsanitize=undefined -c one.c
        "$tmesis" cc -fsanitize=undefined one.o -o prog
        ours prog
        "$tmesis" cc -fno-sanitize=thread -c lib.c
        run instrumented lib.o
        [ "$status" -ne 0 ]
        "$tmesis" cc -fsanitize=address -fno-sanitize=address one.c -o prog
        ours prog
        for foe in address leak hwaddress memory undefined,address; do
            tms cc -fsanitize=$foe -c one.c
            [ "$status" -eq 2 ]
            [[ $stderr == "tmesis: -fsanitize=${foe#undefined,} can't be combined with tmesis"* ]]
            tms cc -fsanitize=$foe one.o -o prog
            [ "$status" -eq 2 ]
        done
    }
    both sanitizers
}

@test "a static program is refused, its static parts are not" {
    static() {
        for how in -static -static-pie; do
            tms cc $how one.c -o prog
            [ "$status" -eq 2 ]
            [[ $stderr == "tmesis: -static can't be combined with tmesis"* ]]
        done
        "$tmesis" cc -static -c one.c
        "$tmesis" c++ -static-libgcc -static-libstdc++ plus.cpp -o prog
        ours prog
    }
    both static
}

@test "functions keep their entries, unless inlining is allowed" {
    cat >small.c <<'C'
volatile int x;
static inline int marked(int value) { return x += value; }
static int plain(int value) { return x -= value; }
int main(void) { return marked(2) + plain(2) - 2; }
C
    entries() {
        for inlined in none marked all; do
            "$tmesis" cc -O2 --tmesis-inline=$inlined small.c -o prog
            nm prog | grep -oE '(marked|plain)$' | sort | tr '\n' ' ' >names
            echo "$inlined: $(cat names)"
            case $inlined in
            none) [ "$(cat names)" = "marked plain " ] ;;
            marked) [ "$(cat names)" = "plain " ] ;;
            all) [ ! -s names ] ;;
            esac
            "$tmesis" cc -O2 --tmesis-inline=$inlined -c small.c
        done
        "$tmesis" cc -O2 -flto small.c -o prog
        nm prog | grep -q ' t marked$'
        TMESIS_INLINE=all "$tmesis" cc -O2 small.c -o prog
        run ! grep -q ' t plain$' <(nm prog)
    }
    both entries
}

@test "paths with blanks and commas, of the program and of the runtime" {
    mkdir 'my tools, too'
    cp -L "$tmesis" 'my tools, too/tmesis'
    cp -rL "$(dirname "$tmesis")/runtime" 'my tools, too/runtime' 2>/dev/null ||
        [ -f 'my tools, too/runtime/libtmesis-rt.a' ]
    mkdir 'my source'
    cp one.c 'my source/one file.c'
    blanks() {
        'my tools, too/tmesis' cc -O1 'my source/one file.c' -o 'prog a'
        ours 'prog a'
    }
    both blanks
}

@test "questions go to the compiler as they are" {
    questions() {
        for question in --version -dumpversion -dumpmachine -print-search-dirs \
            -print-file-name=libc.so --help; do
            [ "$("$(dirname "$tmesis")/tmesis-cc" $question)" = "$($TMESIS_CC $question)" ]
        done
        run "$tmesis" cc -v
        [ "$status" -eq 0 ]
        [[ $output == *"$($TMESIS_CC -dumpversion)"* ]]
        run "$tmesis" cc '-###' one.c
        [[ $output != *libtmesis* ]]
        [ ! -e a.out ]
    }
    both questions
}

@test "the exit status and the complaints are the compiler's" {
    complaints() {
        echo 'int main(void) { return zero; }' >wrong.c
        run "$tmesis" cc -c wrong.c
        [ "$status" -eq 1 ]
        [[ $output == *zero* ]]
        run "$tmesis" cc -O2
        [ "$status" -eq 1 ]
        [[ $output == *"no input files"* ]]
        run "$tmesis" cc -c nowhere.c
        [ "$status" -eq 1 ]
        "$tmesis" cc -Wall -Wextra -Werror -c one.c
    }
    both complaints
    printf '#!/bin/sh\nexit 17\n' >gcc-odd
    chmod +x gcc-odd
    TMESIS_CC=./gcc-odd tms cc one.c
    [ "$status" -eq 17 ]
}

@test "--help and --help=all of cc are ours, those of tmesis-cc the compiler's" {
    for command in cc c++; do
        tms "$command" --help=all
        [ "$status" -eq 0 ]
        [[ $output == "Usage: tmesis $command "*"--tmesis-inline="* ]]
        [ "$output" = "$("$tmesis" "$command" --help)" ]
    done
    TMESIS_CC='echo' run "$(dirname "$tmesis")/tmesis-cc" --help=all
    [ "$output" = --help=all ]
}

@test "wrong values of our own options" {
    tms cc
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: cc needs ARG…; see tmesis cc --help" ]
    tms cc --tmesis-inlin=all one.c
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: cc has no option --tmesis-inlin; did you mean --tmesis-inline?" ]
    tms cc --tmesis-inline=some one.c
    [ "$status" -eq 2 ]
    [[ $stderr == *'--tmesis-inline takes one of none, system, marked, all, not "some"'* ]]
    TMESIS_CC=nowhere/gcc tms cc one.c
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: there is no compiler nowhere/gcc, which TMESIS_CC names" ]
    TMESIS_CC="$(dirname "$tmesis")/tmesis-cc" tms cc one.c
    [ "$status" -eq 2 ]
    [[ $stderr == *"must name the real compiler"* ]]
    run env PATH=/nowhere "$tmesis" cc one.c
    [ "$status" -eq 2 ]
    [[ $output == "tmesis: there is no C compiler; install gcc or clang"* ]]
    run env PATH=/nowhere "$tmesis" c++ one.cpp
    [ "$status" -eq 2 ]
    [[ $output == "tmesis: there is no C++ compiler; install g++ or clang"* ]]
}

@test "a missing runtime is reported before the linker fails" {
    cp -L "$tmesis" tmesis
    run ./tmesis cc one.c
    [ "$status" -eq 2 ]
    [[ $output == "tmesis: the runtime is neither in "*"/runtime nor in "*"; build or install it again" ]]
    ./tmesis cc -c one.c
}

@test "the command that is run can be seen" {
    tms cc --tmesis-verbose '-DNAME=a b' -c one.c
    [ "$status" -eq 0 ]
    [[ $stderr == "tmesis: gcc -fsanitize=thread "*" '-DNAME=a b' -c one.c" ]]
}

# What the scripts of autoconf do to find out about a compiler.
@test "tests of configure scripts" {
    configure() {
        cc=$(dirname "$tmesis")/tmesis-cc
        "$cc" -g -O2 one.c -o conftest >&5 2>&1
        ./conftest
        echo 'int main(void) { return no_such_function(); }' >conftest.c
        run "$cc" -o conftest conftest.c
        [ "$status" -ne 0 ]
        echo 'char cos(); int main(void) { return cos() == 1; }' >conftest.c
        "$cc" -fno-builtin -w -o conftest conftest.c -lm
        echo 'int main(void) { return 3; }' >conftest.c
        "$cc" conftest.c
        run ./a.out
        [ "$status" -eq 3 ]
    }
    both configure 5>/dev/null
}

@test "the flags of --tmesis-flags do what the wrapper does" {
    flags() {
        mapfile -t compiling < <("$tmesis" cc --tmesis-flags=compile)
        mapfile -t linking < <("$tmesis" cc --tmesis-flags=link)
        mapfile -t sharing < <("$tmesis" cc --tmesis-flags=shared)
        "$TMESIS_CC" -g "${compiling[@]}" -c one.c
        "$TMESIS_CC" "${linking[@]}" one.o -o prog
        ours prog
        "$TMESIS_CC" -fPIC "${compiling[@]}" -c lib.c
        "$TMESIS_CC" -shared -Wl,--no-undefined lib.o "${sharing[@]}" -o lib.so
        instrumented lib.so
        mapfile -t compiling < <("$tmesis" c++ --tmesis-flags=compile)
        mapfile -t linking < <("$tmesis" c++ --tmesis-flags=link)
        "${TMESIS_CC/gcc/g}++" -g "${compiling[@]}" -c plus.cpp
        "${TMESIS_CC/gcc/g}++" plus.o "${linking[@]}" -o prog
        ours prog
    }
    both flags
    tms cc --tmesis-flags=link one.c
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: --tmesis-flags compiles nothing, so one.c is one word too many" ]
    tms cc --tmesis-flags=run
    [ "$status" -eq 2 ]
    [[ $stderr == *"compile, link, shared"* ]]
}
