#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The doctor: no problems here, and each problem is named with its remedy.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

# line NAME: what the doctor says of it, in one line.
line() {
    awk -v name="$1" 'substr($0, 10, length(name) + 1) == name " " {on = 1; print; next}
        /^ / {if (on) print; next} {on = 0}' <<<"$output" | tr -s ' \n' ' '
}

@test "all is well, with gcc and with clang" {
    for TMESIS_CC in gcc clang; do
        export TMESIS_CC
        tms doctor
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        [ "$(grep -c '^ok ' <<<"$output")" -eq 9 ]
        [[ $output != *problem* && $output != *skipped* ]]
        [[ $(line 'C compiler') == *"$TMESIS_CC"*[0-9].[0-9]* ]]
        tms doctor --quiet
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
}

@test "no files are left" {
    mkdir tmp
    TMPDIR=$PWD/tmp tms doctor
    [ -z "$(ls tmp)" ]
}

@test "a missing compiler" {
    TMESIS_CC=nowhere/gcc TMESIS_CXX=g++ tms doctor
    [ "$status" -eq 2 ]
    [ "$(line 'C compiler')" = "problem C compiler there is no compiler nowhere/gcc, which TMESIS_CC names " ]
    [[ $(line 'C program') == skipped* ]]
    [[ $(line 'C++ program') == ok* ]]
    [[ $(line 'watched run') == skipped* ]]
}

@test "a compiler that does not know -fsanitize=thread" {
    printf '#!/bin/sh\ncase "$*" in --version) echo odd 1.0 ;; *) echo "odd: error: no such option" >&2; exit 1 ;; esac\n' >odd
    chmod +x odd
    TMESIS_CC=./odd TMESIS_CXX=g++ tms doctor
    [ "$status" -eq 2 ]
    [[ $(line 'C compiler') == "ok C compiler ./odd: odd 1.0"* ]]
    [ "$(line 'C program')" = "problem C program does not compile: odd: error: no such option " ]
}

@test "a missing runtime" {
    cp -L "$tmesis" tmesis
    run --separate-stderr ./tmesis doctor
    [ "$status" -eq 2 ]
    [[ $(line runtime) == "problem runtime the runtime is neither in"* ]]
    [[ $(line 'C program') == skipped* ]]
    run --separate-stderr ./tmesis doctor -q
    [ "$status" -eq 2 ]
    [[ $output != *ok\ * && $output == *problem* ]]
}

@test "no place to try things out" {
    TMPDIR=/nowhere tms doctor
    [ "$status" -eq 2 ]
    [[ $(line 'C program') == *"set TMPDIR to a directory with free space"* ]]
}

@test "too little room for addresses" {
    if nm "$tmesis" | grep -q __asan_init; then
        skip "AddressSanitizer itself does not start with so little"
    fi
    run --separate-stderr bash -c 'ulimit -v 4000000 && "$1" doctor' - "$tmesis"
    [ "$status" -eq 2 ]
    [[ $(line memory) == "problem memory 16 TiB of addresses can't be reserved; lift the limit (ulimit -v unlimited)"* ]]
}
