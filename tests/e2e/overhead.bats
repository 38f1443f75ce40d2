#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The benchmark of watched programs works, and they print the same as natively. The cost
# is not tested.
# shellcheck disable=SC2154 # common.bash sets them
load common

# overhead KERNEL: one small round of it with gcc, by the command $TMESIS.
overhead() {
    run --separate-stderr env BENCH_QUICK=1 BENCH_COMPILERS=gcc BENCH_DIR="$PWD/bench" \
        "$top/bench/overhead" "$1"
    printf '%s\n' "$output" "$stderr"
}

@test "a kernel prints the same natively, under the peer, watched and recorded" {
    TMESIS=$(realpath "$tmesis") overhead sort.c
    [ "$status" -eq 0 ]
    [[ $output =~ \|\ +sort\.c(\ \|\ +[0-9.]+){15}\ \| ]]
    [[ $output == *'memory off s'* ]]
    [[ $output =~ 'geometric mean'[^$'\n']*[0-9] ]]
    [ ! -e bench/overhead.tms ]
}

@test "what a lock costs, and that it is over when it takes too long" {
    TMESIS=$(realpath "$tmesis") overhead locks.c
    [ "$status" -eq 0 ]
    [[ $output =~ \|\ +'preloaded, run'\ \|\ +[0-9]+\ \|\ +200\ \| ]]
    BENCH_TIMEOUT=0.01 TMESIS=$(realpath "$tmesis") overhead sort.c
    [ "$status" -eq 0 ]
    [[ $output == *'over 0.01'* ]]
}

@test "how the cost of an operation grows" {
    run --separate-stderr env BENCH_QUICK=1 BENCH_COMPILERS=gcc BENCH_DIR="$PWD/bench" \
        TMESIS="$(realpath "$tmesis")" "$top/bench/scaling" blocks
    printf '%s\n' "$output" "$stderr"
    [ "$status" -eq 0 ]
    [[ $output =~ \|\ run\ \|\ [0-9.]+\ \|\ [0-9.]+\ \|\ [0-9.]+\ \|\ 1\.5\ \| ]]
    run "$top/bench/scaling" zebras
    [ "$status" -eq 1 ]
    [[ $output == *'what grows is locks, blocks, '* ]]
}

@test "a kernel that is not there" {
    TMESIS=$(realpath "$tmesis") overhead zebra.c
    [ "$status" -eq 1 ]
    [[ $stderr == *'the kernels are matrix.c, '* ]]
}

@test "another sum than natively stops the run" {
    cat >wrong <<'END'
#!/bin/bash
[[ $1 == run ]] && echo something else && exit
exec "$REAL" "$@"
END
    chmod +x wrong
    REAL=$(realpath "$tmesis") TMESIS=$PWD/wrong overhead sort.c
    [ "$status" -eq 1 ]
    [[ $stderr == *"printed 'something else"*natively* ]]
}
