#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that were not built for it, and what is recorded along with a check: what is said, what
# rules do, exit statuses. What is predicted of which program is tested in tests/predict/programs.
# shellcheck disable=SC2154 # common.bash sets them
load common

setup_file() {
    export programs=$BATS_FILE_TMPDIR
    local tmesis=${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}
    cd "$programs" || return
    cp "$BATS_TEST_DIRNAME/../../examples/bank/buggy.c" bank.c
    sed -i 's/2000/20/' bank.c
    gcc -g -pthread bank.c -o bank
    gcc -O2 -fno-inline -pthread bank.c -o stripped
    strip --strip-all stripped
    "$tmesis" cc -g bank.c -o watched
    gcc -static -pthread bank.c -o static
    cp bank privileged
    chmod g+s privileged
    printf '#!/bin/sh\n./bank\n./watched\n' >both.sh
    chmod +x both.sh
}

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    cd "$programs" || return
}

@test "an ordinary program is looked at by its locks" {
    tms run --engine=sidetrack --json=bank.json ./bank
    [ "$status" -eq 0 ]
    [[ $output == 'paid in 40, the balance is '* ]]
    [[ $flat == *'./bank was not built with tmesis cc: its locks and threads are watched'* ]]
    [[ $flat == *"predicted: "*"'s deposit can be cut apart by"*'acquires of account'* ]]
    output=$(<bank.json)
    valid result
    query '{v["transaction"]["label"] for v in d[0]["results"][0]["violations"]} == {"deposit"}'
}

@test "what is predicted can decide the exit status" {
    tms run --engine=sidetrack --fail-on=predicted ./bank
    [ "$status" -eq 66 ]
    tms run --fail-on=predicted ./watched
    [ "$status" -eq 66 ]
    tms run --engine=frontier,sidetrack --quiet ./watched
    [ "$status" -eq 0 ] || [ "$status" -eq 66 ]
}

@test "rules name functions" {
    tms run --engine=sidetrack --not-atomic=deposit ./bank
    [ "$status" -eq 0 ]
    [[ $stderr == *'none-predicted'* ]]
    tms run --engine=sidetrack --atomic='dep*' ./bank
    [[ $flat == *"deposit can be cut apart"* ]]
    tms run --engine=sidetrack --atomic='nothing_of_that_name' ./bank
    [ "$status" -eq 3 ]
    [[ $flat == *'"nothing_of_that_name" matched no function'* ]]
}

@test "without any symbols functions are shown by their addresses" {
    tms run --engine=sidetrack ./stripped
    [ "$status" -eq 0 ]
    [[ $flat == *"'s stripped+0x"*'can be cut apart by'* ]]
}

@test "what nothing can be loaded into is refused" {
    tms run --engine=sidetrack ./static
    [ "$status" -eq 125 ]
    [[ $stderr == *'./static was not built with tmesis cc, and it is linked statically'* ]]
    [ -z "$output" ]
    tms run --engine=sidetrack ./privileged
    [ "$status" -eq 125 ]
    [[ $stderr == *'set-user-ID'* ]]
    [ -z "$output" ]
}

@test "what can't be started, and what has no locks, is said in a sentence" {
    mkdir folder
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    for what in './folder Is a directory' './script what is to run it (its #! line, or the loader) is not there' \
        './missing No such file or directory'; do
        tms run --engine=sidetrack "${what%% *}"
        [ "$status" -eq 125 ]
        [ "$stderr" = "tmesis: ${what%% *} can't be started: ${what#* }" ]
    done
    tms run --quiet --engine=sidetrack /bin/true
    [ "$status" -eq 3 ]
    [[ $stderr == *'/bin/true: incomplete: '*'no function of /bin/true was seen to use a lock'* ]]
    tms run --engine=sidetrack /bin/true
    [[ $flat != *'The rest may hold'* ]]
    tms run --quiet --engine=sidetrack --atomic=nothing ./bank
    [ "$status" -eq 3 ]
    [[ $stderr == *'nothing that is meant to be atomic was seen'* ]]
}

@test "engines that need accesses need tmesis cc" {
    tms run ./bank
    [ "$status" -eq 125 ]
    [[ $flat == *'./bank was not built with tmesis cc'*'--engine sidetrack'* ]]
}

@test "programs that others start" {
    tms run --engine=sidetrack --json=both.json ./both.sh
    output=$(<both.json)
    query 'len(d) == 3 and d[2]["merged"] and all(r["results"][0]["verdict"] == "predicted" for r in d)'
    tms run --engine=sidetrack --quiet timeout 20 ./bank
    [ "$status" -eq 0 ]
    [[ $stderr == *'predicted'* ]]
}

@test "a recording along that has no room says so, and leaves the check alone" {
    sed 's/\b20\b/20000/' bank.c >long.c
    gcc -g -pthread long.c -o long
    tms run --engine=sidetrack --max-size=100K ./long
    [[ $flat == *'room for the first part of the run only'* ]]
    [ "$status" -eq 3 ]
    "$tmesis" cc -g -pthread long.c -o watched-long
    tms run --max-size=100K --atomic='set_balance' --json=along.json ./watched-long
    [ "$status" -eq 0 ]
    output=$(<along.json)
    query '[r["verdict"] for r in d[0]["results"]] == ["serializable", "incomplete"]'
    [[ $stderr == *'./watched-long: serializable: no atomic block was cut apart in this run; whether one can be with another timing is not fully known.'* ]]
    [[ $flat == *'sidetrack did not see everything: there was room for the first part of the run only, --max-size gives more. The rest may hold a violation.'* ]]
    # Who lets predictions decide can't rely on it.
    tms run --quiet --max-size=100K --atomic='set_balance' --fail-on=predicted ./watched-long
    [ "$status" -eq 3 ]
}
