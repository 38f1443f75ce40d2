#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that were not compiled for tmesis, and recordings along with a check: messages, what
# rules do, exit statuses. What is predicted of which program is tested in tests/predict/programs,
# that programs behave as they do natively in tests/harm.
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
    local source=$BATS_TEST_DIRNAME/plain
    gcc -g -pthread "$source/cut.c" -o cut
    gcc -g -O2 -pthread bank.c -o inlined
    gcc -g -pthread "$source/order.c" -o order
}

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    cd "$programs" || return
}

@test "an ordinary program is watched by its locks" {
    tms run --json=cut.json ./cut
    [ "$status" -eq 0 ]
    [ "$output" = 'the balance is 5' ]
    [[ $stderr == 'tmesis: ./cut was not built with tmesis cc: its locks and threads are watched, its memory is not'$'\n'* ]]
    [[ $flat == *'· transfer() was cut: what was done with the data was not recorded'* ]]
    [[ $flat == *'./cut: violation: not serializable; memory was not watched.'* ]]
    output=$(<cut.json)
    valid result
    query 'd[0]["trace"]["locks_only"] is True'
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "judge", "sidetrack", "goodlock"]'
    query '{(v["transaction"]["label"], v["level"], *v["patterns"]) for v in d[0]["results"][1]["violations"]} == {("transfer", "note", "unwatched")}'
    query '"observed" in [v["evidence"] for v in d[0]["results"][1]["violations"]]'
    tms run --quiet ./cut
    [ "$status" -eq 0 ]
    [ "$stderr" = './cut: violation: not serializable; memory was not watched.' ]
}

@test "the exit status is that of the program, unless notes are to count" {
    for how in --strict --fail-on=note --engine=frontier --engine=velodrome; do
        tms run "$how" ./cut
        [ "$status" -eq 66 ]
        [ "$output" = 'the balance is 5' ]
    done
    tms run --strict --exit-code=7 ./cut
    [ "$status" -eq 7 ]
    tms run --fail-on=error,predicted ./cut
    [ "$status" -eq 0 ]
    tms run sh -c './cut >/dev/null; exit 9'
    [ "$status" -eq 9 ]
    tms run sh -c './cut >/dev/null; kill -9 $$'
    [ "$status" -eq 137 ]
    tms run --strict --not-atomic=transfer ./cut
    [ "$status" -ne 66 ]
}

@test "nothing that is inlined is said to have been cut" {
    for seed in 1 2 3; do
        tms run --perturb=$seed --json=inlined.json ./inlined
        output=$(<inlined.json)
        query 'all(v["evidence"] == "potential" for r in d[0]["results"] for v in r["violations"])'
        query 'any("deposit (inlined)" in str(v) for r in d[0]["results"] for v in r["violations"])'
    done
    # Engines that judge this run as it is get no such blocks.
    tms run --engine=velodrome,reference,frontier,sidetrack --json=inlined.json ./inlined
    output=$(<inlined.json)
    query '"inlined)" not in str(d)'
}

@test "a semaphore orders what it orders, and splits nothing" {
    tms run --json=order.json ./order semaphore
    [ "$status" -eq 0 ]
    output=$(<order.json)
    query 'all(r["violations"] == [] for r in d[0]["results"])'
    for how in time inside; do
        tms run --fail-on=predicted --json=order.json ./order $how
        [ "$status" -eq 66 ]
        output=$(<order.json)
        query '{v["transaction"]["label"] for v in d[0]["results"][2]["violations"]} == {"add"}'
    done
    tms record -o order.tms ./order semaphore
    "$tmesis" convert order.tms order.std
    [ "$(grep -c 'u(semaphore:done@1)' order.std)" -eq 2 ]
}

@test "a once control orders what it orders" {
    tms run --json=order.json ./order once
    [ "$status" -eq 0 ]
    output=$(<order.json)
    query 'all(r["violations"] == [] for r in d[0]["results"])'
    tms record -o once.tms ./order once
    "$tmesis" convert once.tms once.std
    grep -q 'w(once:once)' once.std
    grep -q 'r(once:once)' once.std
}

@test "synchronisation that is not seen is named" {
    gcc -g -pthread "$BATS_TEST_DIRNAME/plain/futex.c" -o futex
    "$tmesis" cc -g "$BATS_TEST_DIRNAME/plain/futex.c" -o futex-watched
    tms run ./futex
    [[ $flat == *'uses futexes itself (C++20 atomic::wait does): locks made of them are not seen'* ]]
    tms run ./futex-watched
    [[ $flat != *'futexes itself'* ]] # atomics are seen there
    for program in ./futex ./futex-watched; do
        tms run $program fibre
        [ "$output" = $'on another stack\ndone' ]
        [[ $flat == *'changes stacks by swapcontext: blocks of several fibres of one thread are not distinguished'* ]]
        tms run --quiet $program fibre
        [[ $flat != *swapcontext* ]]
    done
    printf '#include <stdio.h>\nint main(void)\n{\n#pragma omp parallel num_threads(2)\n#pragma omp critical\nputs("in");\n}\n' >omp.c
    if gcc -fopenmp omp.c -o omp; then
        tms run ./omp
        [[ $flat == *'libgomp.so.1 is loaded: the locks, barriers and tasks of OpenMP are not seen'* ]]
        [ "$output" = $'in\nin' ]
    fi
}

@test "a recording has locks and no accesses" {
    tms record -o cut.tms ./cut
    [ "$status" -eq 0 ]
    [[ $flat == *'./cut was not built with tmesis cc: its locks and threads are watched, its memory is not'* ]]
    tms check --notes cut.tms
    [[ $flat == *'transfer() was cut: what was done with the data was not recorded'* ]]
    [[ $flat == *'not serializable; no accesses to memory were recorded.'* ]]
    for engine in reference velodrome aerodrome regiontrack; do
        tms check --engine=$engine cut.tms
        [ "$status" -eq 1 ]
    done
}

@test "sidetrack alone looks at an ordinary program" {
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

@test "what nothing can be loaded into is refused before it runs" {
    cp bank narrow # ELFCLASS32
    printf '\1' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
    sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-musl-x86-64xx.so1,' bank >musl
    chmod +x musl
    for what in './static is linked statically' './privileged is set-user-ID' \
        './narrow is not a program for x86-64' './musl uses a C library other than glibc'; do
        for command in 'run' 'run --engine=sidetrack' 'record -o x.tms'; do
            # shellcheck disable=SC2086 # several words
            tms $command "${what%% *}"
            [ "$status" -eq 125 ]
            [ -z "$output" ]
            [[ $stderr == "tmesis: ${what%% *} was not built with tmesis cc, and it ${what#* }"* ]]
            [ "$(wc -l <<<"$stderr")" -eq 1 ]
        done
    done
}

@test "what can't be started, and what has no locks, is said in a sentence" {
    mkdir folder
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    for what in './folder Is a directory' './script its interpreter (of the #! line) or its loader does not exist' \
        './missing No such file or directory'; do
        tms run --engine=sidetrack "${what%% *}"
        [ "$status" -eq 125 ]
        [ "$stderr" = "tmesis: ${what%% *} can't be started: ${what#* }" ]
    done
    tms run --quiet --engine=sidetrack /bin/true
    [ "$status" -eq 3 ]
    [[ $stderr == *'/bin/true: incomplete: '*'no function of /bin/true used a lock'* ]]
    tms run --engine=sidetrack /bin/true
    [[ $flat != *'The rest may contain'* ]]
    tms run --quiet --engine=sidetrack --atomic=nothing ./bank
    [ "$status" -eq 3 ]
    [[ $stderr == *'no block that is meant to be atomic was seen'* ]]
}

@test "engines that look at memory alone are left out" {
    tms run --engine=fasttrack ./bank
    [ "$status" -eq 125 ]
    [ -z "$output" ]
    [[ $stderr == *'engines that need memory accesses, and so a program built with tmesis cc: fasttrack' ]]
    tms run --potential --json=bank.json ./bank
    [[ $flat == *'built with tmesis cc, left out: blocks,reduction'* ]]
    output=$(<bank.json)
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "judge", "sidetrack", "goodlock"]'
}

@test "programs that others start" {
    tms run --json=both.json ./both.sh
    [[ $stderr == 'tmesis: ./both.sh is a script: the programs that it starts are watched'* ]]
    [[ $stderr != *'futexes'* ]] # those that begin a thread are the runtime's
    [[ $stderr != *'memory was not watched'* ]] # that of one was
    output=$(<both.json)
    query '[[r["engine"] for r in p["results"]] for p in d[:2]] == [["frontier", "judge", "sidetrack", "goodlock"], ["frontier", "judge", "sidetrack", "fasttrack"]]'
    query '["locks_only" in p["trace"] for p in d[:2]] == [True, False]'
    tms run --json=both.json ./both.sh
    output=$(<both.json)
    query '[sorted(v["patterns"] for v in r["violations"]) == [["unwatched"]] for p in d[:2] for r in p["results"] if r["engine"] == "judge"] == [True, False]'
    tms run --engine=sidetrack --json=both.json ./both.sh
    output=$(<both.json)
    query 'len(d) == 3 and d[2]["merged"] and all(r["results"][0]["verdict"] == "predicted" for r in d)'
    tms run --engine=sidetrack --quiet timeout 20 ./bank
    [ "$status" -eq 0 ]
    [[ $stderr == *'predicted'* ]]
}

@test "a recording along that has no room says so; what is decided inside needs none" {
    sed 's/\b20\b/20000/' bank.c >long.c
    gcc -g -pthread long.c -o long
    tms run --engine=sidetrack --max-size=100K ./long
    [[ $flat == *'only the first part of the run was recorded'* ]]
    [ "$status" -eq 3 ]
    "$tmesis" cc -g -pthread long.c -o watched-long
    tms run --max-size=100K --atomic='set_balance' --json=inside.json ./watched-long
    [ "$status" -eq 0 ]
    output=$(<inside.json)
    query '[r["verdict"] for r in d[0]["results"]] == ["serializable", "unaffected", "none-predicted", "no-race"]'
    query 'all(r["complete"] for r in d[0]["results"])'
    [[ $flat == *'--full and --max-size are for recordings'* ]]
    [[ $stderr == *'./watched-long: serializable: no atomic block was cut apart in this run; no data was affected.'* ]]
    # The same for the block that can be cut, however long the run is.
    tms run --quiet --max-size=100K --fail-on=predicted --json=cut.json ./watched-long
    [ "$status" -eq 66 ]
    output=$(<cut.json)
    query 'any(r["engine"] == "sidetrack" and r["verdict"] == "predicted" and r["complete"] for r in d[0]["results"])'
}
