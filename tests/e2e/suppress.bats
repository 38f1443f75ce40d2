# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats and common.bash set the variables
# Findings that rules suppress: --suppress, --ignore-…, --write-suppressions.
load common

# Two blocks that are cut: deposit on balance and m, log on text.
two_findings() {
    sed 's/|\([0-9]*\)$/|bank.c:\1/' lost.std >two.std
    printf '%s\n' 'A|begin(log)|log/log.c:1' 'A|r(text)|log/log.c:2' 'B|w(text)|log/log.c:3' \
        'A|w(text)|log/log.c:4' 'A|end|log/log.c:5' >>two.std
}

@test "rules: block, variable, file, id; status, count, the rest is shown" {
    two_findings
    tms check --engine=frontier two.std
    [ "$status" -eq 1 ]
    id=$(grep -o 'AV-[0-9a-f]*' <<<"$stderr" | tail -1)
    for rule in --ignore-block='lo?' --ignore-variable='te*' --ignore-file='log/*' \
        --ignore-file=log.c --suppress="$id"; do
        tms check --engine=frontier "$rule" two.std
        [ "$status" -eq 1 ]
        [[ $stderr == *deposit* && $stderr != *"A's log"* ]]
        [[ $stderr == *$'\n1 finding suppressed.' ]]
        tms check -q --engine=frontier "$rule" --ignore-block=deposit two.std
        [ "$status" -eq 0 ]
    done
}

@test "a rule that is about something else suppresses nothing, and is named" {
    two_findings
    printf '# known\n\nblock nix  # a comment\nfile log\nid AV-123456\nobject lib*\n' >rules
    tms check --engine=frontier --suppress=rules two.std
    [ "$status" -eq 1 ]
    [[ $stderr != *suppressed.* ]]
    [[ $stderr == *'matches the suppression block "nix" (rules:3)'* ]]
    [[ $stderr == *'matches the suppression file "log" (rules:4)'* ]]
    [[ $stderr == *'matches the suppression id "AV-123456" (rules:5)'* ]]
    [[ $stderr == *'object "lib*" (rules:6): shared libraries are known only from call stacks, and there were none'* ]]
    tms check -q --engine=frontier --suppress=rules two.std
    [[ $stderr != *"matches the suppression"* ]]
    tms check --engine=frontier --suppress=rules --ignore-block=log two.std
    [[ $stderr != *'suppression block "log"'* ]]
}

@test "an ignored lock makes no edges and no windows" {
    # Nothing but locks: with m this is a cycle, and without it there is nothing.
    grep -v '|[rw](' lost.std >locks.std
    tms check --engine=frontier,sidetrack locks.std
    [ "$status" -eq 1 ]
    for engines in frontier frontier,sidetrack all; do
        tms check --engine="$engines" --ignore-lock=m --fail-on=potential locks.std
        [ "$status" -eq 0 ]
        [[ $stderr != *violation:* && $stderr != *predicted:* ]]
        [[ $stderr != *suppressed.* && $stderr != *"matches the suppression"* ]]
    done
    # The data is still affected, and the trace well-formed as before.
    tms check -q --engine=frontier --ignore-lock='?' lost.std
    [ "$status" -eq 1 ]
    [[ $stderr == *"first at event 12"* ]]
    tms check -q --ignore-lock=m bad.std
    [ "$status" -eq 2 ]
    tms check --ignore-lock=other locks.std
    [ "$status" -eq 1 ]
    [[ $stderr == *'matches the suppression lock "other"'* ]]
}

@test "an ignored lock: every engine agrees, on a long trace" {
    tms gen -q --events 20k --violation=none --seed 3 -o t.std
    grep -v '|r\?\(acq\|rel\)(' t.std >without.std
    lock=$(grep -o 'acq([^)]*)' t.std | sort -u | sed 's/acq(\(.*\))/--ignore-lock=\1/')
    # shellcheck disable=SC2086 # several options
    tms check --engine=frontier,regiontrack,aerodrome --json $lock t.std
    with=$(jq -c '[.results[] | .verdict]' <<<"$output")
    tms check --engine=frontier,regiontrack,aerodrome --json without.std
    [ "$with" = "$(jq -c '[.results[] | .verdict]' <<<"$output")" ]
}

@test "--max-violations does not count what is suppressed" {
    two_findings
    tms check --engine=frontier --max-violations=1 --ignore-block=deposit two.std
    [ "$status" -eq 1 ]
    [[ $stderr == *"A's log was cut apart"* && $stderr != *"deposit was cut"* ]]
    tms check -q --engine=frontier --all --max-violations=1 --ignore-block='*' two.std
    [ "$status" -eq 0 ]
}

@test "--first: what is suppressed leaves the rest unknown" {
    two_findings
    tms check -q --engine=frontier --first two.std
    [ "$status" -eq 1 ]
    tms check -q --engine=frontier --first --ignore-block=deposit two.std
    [ "$status" -eq 3 ]
}

@test "the prediction of a suppressed finding does not count either" {
    tms check -q --fail-on=predicted --ignore-block=deposit lost.std
    [ "$status" -eq 0 ]
    tms check --engine=frontier lost.std
    id=$(grep -o 'AV-[0-9a-f]*' <<<"$stderr" | head -1)
    tms check -q --engine=frontier,sidetrack --fail-on=predicted --suppress="$id" lost.std
    [ "$status" -eq 0 ]
}

@test "--write-suppressions: all findings, ready to be used" {
    two_findings
    tms check --engine=frontier --write-suppressions=found two.std
    [ "$status" -eq 1 ]
    [ "$(grep -c '^id AV-' found)" -eq 2 ]
    grep -q '^# observed: deposit, lock m$' found
    grep -q '^# observed: log, variable text$' found
    tms check --engine=frontier --suppress=found --write-suppressions=again two.std
    [ "$status" -eq 0 ]
    [[ $stderr == *$'\n2 findings suppressed.' ]]
    diff found again
    sed -i '/log/,$d' found
    tms check -q --engine=frontier --suppress=found two.std
    [ "$status" -eq 1 ]
    # Several traces, one rule for each finding; none at all is a file without rules.
    tms check -q --engine=frontier --write-suppressions=both two.std two.std
    [ "$(grep -c '^id AV-' both)" -eq 2 ]
    tms check -q --write-suppressions=none fine.std
    [ "$status" -eq 0 ]
    [ "$(grep -vc '^#' none)" -eq 0 ]
}

@test "--write-suppressions replaces no input, and is whole or not there" {
    printf 'block x\n' >rules
    tms check --write-suppressions=lost.std lost.std
    [ "$status" -eq 2 ]
    tms check --suppress=rules --write-suppressions=./rules lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"are the same file"* ]]
    tms check --suppress=rules --json=rules lost.std
    [ "$status" -eq 2 ]
    tms check --json=out --write-suppressions=out lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"can't both go to out"* ]]
    tms check --json --write-suppressions=- lost.std
    [ "$status" -eq 2 ]
    [ "$(cat rules)" = "block x" ]
    tms check --write-suppressions=no/such/directory lost.std
    [ "$status" -eq 2 ]
    tms check -q --write-suppressions=- lost.std
    [ "$status" -eq 1 ]
    [[ $output == *"id AV-"* ]]
}

@test "bad rules are refused with file and line" {
    printf 'block x\n\nblocks y\n' >rules
    tms check --suppress=rules lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == 'tmesis: rules:3: expected "block", "lock", "variable", "file" or "object" and a pattern, or "id" and an id, found "blocks y"' ]]
    printf 'lock  # none\n' >rules
    tms check --suppress=rules lost.std
    [[ $stderr == *'rules:1: expected a pattern after "lock", found the end of the line'* ]]
    printf 'id AV-12345\n' >rules
    tms check --suppress=rules lost.std
    [[ $stderr == *'rules:1: expected the id of a finding, such as AV-3f2a91, found "AV-12345"'* ]]
    printf 'block a\\\n' >rules
    tms check --suppress=rules lost.std
    [[ $stderr == *'rules:1: the pattern "a\" ends with a single backslash'* ]]
    printf 'block \0\n' >rules
    tms run --suppress=rules true
    [ "$status" -eq 125 ]
    [[ $stderr == *"rules:1: expected lines of text, found a zero byte"* ]]
    tms check --suppress=AV-xyz lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"--suppress: expected the id of a finding"* ]]
    tms check --suppress=nosuch lost.std
    [ "$status" -eq 2 ]
    run --separate-stderr bash -c '"$1" check --suppress=- - <lost.std' _ "$tmesis"
    [ "$status" -eq 2 ]
    [[ $stderr == *"can be read only once"* ]]
}

@test "run: findings of the running program are suppressed, ignored locks among them" {
    "$tmesis" cc -O1 -g -o bank "$top/examples/bank/buggy.c"
    tms run --engine=frontier --perturb=1 --write-suppressions=found --exit-code=66 ./bank
    [ "$status" -eq 66 ]
    grep -q '^id AV-' found
    tms run --engine=frontier --perturb=1 --suppress=found --ignore-block='*' ./bank
    [ "$status" -eq 0 ]
    [[ $stderr == *"suppressed."* ]]
    tms run --engine=frontier --perturb=1 --ignore-file=buggy.c ./bank
    [ "$status" -eq 0 ]
    tms run --engine=frontier --perturb=1 --ignore-lock='account*' ./bank
    [ "$status" -eq 0 ]
    [[ $stderr == *"suppressed."* ]]
    tms run --engine=frontier --perturb=1 --ignore-object=bank ./bank
    [ "$status" -eq 0 ]
    tms run --engine=frontier --perturb=1 --ignore-object='lib*' ./bank
    [ "$status" -eq 66 ]
    [[ $stderr == *'matches the suppression object "lib*"'* && $stderr != *"there were none"* ]]
}
