#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Events that recordings contain for `judge` only: calls of functions that are not blocks by default, waits
# for others, compare-and-swaps that failed, delays.
# shellcheck disable=SC2154 # common.bash sets them
load common

build_judged() {
    "$tmesis" cc -g -O1 -pthread "$here/recordings/judged.c" -o judged
}

# recorded WAY [OPTION…]: what the second thread did, without locations, in $trace and trace.std.
recorded() {
    local way=$1
    shift
    "$tmesis" record -q "$@" -o t.tms -- ./judged "$way"
    "$tmesis" convert --to std t.tms trace.std
    trace=$(sed -n 's/^T2|\([^|]*\).*/\1/p' trace.std)
    printf '%s\n' "$trace"
}

# clears WAY: how often.
clears() {
    recorded "$1" --full
    [ "$(grep -c '^clear$' <<<"$trace")" -eq "$2" ]
}

@test "main and thread start functions are recorded as calls" {
    build_judged
    for kind in '' --full; do
        recorded add ${kind:+"$kind"}
        [ "$(head -n 1 <<<"$trace")" = "call(work)" ]
        [ "$(tail -n 1 <<<"$trace")" = "return(work)" ]
        grep -q '^begin(add)$' <<<"$trace"
        grep -q '^main|call(main)' trace.std
        grep -q '^main|return(main)' trace.std
    done
}

@test "a function that waits is demoted there, and returns" {
    build_judged
    for kind in '' --full; do
        recorded await ${kind:+"$kind"}
        events=$(grep -E '^(begin|demote|wait|end|return)' <<<"$trace" | tr '\n' ' ')
        [ "$events" = "begin(await) demote(await) wait(condition) begin(add) end(add) return(await) return(work) " ]
    done
}

@test "a lock wrapper ends as a block, and is a call from then on" {
    build_judged
    recorded wrap --full
    events=$(grep 'take_lock\|acq' <<<"$trace" | tr '\n' ' ')
    [ "$events" = "begin(take_lock) acq(mutex) end(take_lock) call(take_lock) acq(mutex) return(take_lock) " ]
}

@test "what a rule says is not atomic has no calls, nor has anything where a rule names the blocks" {
    build_judged
    recorded await --full --not-atomic=await --not-atomic=work
    run ! grep -E 'await|work' <<<"$trace"
    recorded await --full --atomic=add
    run ! grep -E '^(call|return|demote)' <<<"$trace"
    recorded await --full --atomic=@annotations
    run ! grep -E '^(call|return|demote)' <<<"$trace"
    recorded await --full --atomic=await
    run ! grep -E '^(call|return|demote)' <<<"$trace"
    grep -q '^begin(await)' <<<"$trace"
}

@test "waiting for others is recorded, once for each wait" {
    build_judged
    for way in take_semaphore time_out poll_pipe select_pipe epoll_pipe read_pipe read_eventfd \
        wait_child wait_futex; do
        clears "$way" 1
    done
}

@test "files, sleeping and looking are no rendezvous" {
    build_judged
    clears read_file 0
    clears sleep_only 0
    clears swap 0
}

@test "a rendezvous is between what was done before it and after it" {
    build_judged
    recorded take_semaphore --full
    events=$(sed -n '/^begin(take_semaphore)/,/^end/p' <<<"$trace" | tr '\n' ' ')
    [[ $events == "begin(take_semaphore) r(data) w(data) u(semaphore:semaphore"*") clear r(data) w(data) end(take_semaphore) " ]]
}

@test "a compare-and-swap that fails is a read between two retries" {
    build_judged
    recorded swap --full
    events=$(grep 'word' <<<"$trace" | tr '\n' ' ')
    [ "$events" = "retry(word) ar(word,seq_cst) retry(word) au(word,seq_cst) " ]
}

@test "delays of the tool are recorded, and only these" {
    build_judged
    for seed in 1 2 3; do
        recorded await --full --perturb="$seed"
        grep -q '|delay$' trace.std
    done
    recorded await --full
    run ! grep 'delay' trace.std
}

@test "verdict and blame are those of the blocks" {
    build_judged
    for kind in '' --full; do
        recorded cut ${kind:+"$kind"}
        tms check --engine=frontier,reference --json t.tms
        [ "$status" -eq 1 ]
        query 'all([v["transaction"]["label"] for v in r["violations"]] == ["cut"] for r in d[0]["results"])'
        grep -vE '\|(call|return|clear|delay|retry)(\(|\||$)' trace.std | sed 's/|demote(/|end(/' >bare.std
        tms check --engine=frontier,reference --json bare.std
        query 'all([v["transaction"]["label"] for v in r["violations"]] == ["cut"] for r in d[0]["results"])'
    done
}
