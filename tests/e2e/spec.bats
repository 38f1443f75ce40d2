#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Specifications on the command line: --spec, --atomic, --not-atomic.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; backquotes are Markdown's
load common

setup_file() {
    # Deposits inside `serve`: `serve` is cut apart, each deposit is not.
    cat >"$BATS_FILE_TMPDIR/nested.std" <<'END'
A|begin(serve(int))|a.c:1
A|begin(deposit)|a.c:2
A|w(x)|a.c:3
A|end|a.c:4
B|begin(audit)|b.c:1
B|r(x)|b.c:2
B|w(y)|b.c:3
B|end|b.c:4
A|begin(deposit)|a.c:5
A|r(y)|a.c:6
A|end|a.c:7
A|end|a.c:8
END
}

# counts TRANSACTIONS NOT-ATOMIC VERDICT: of the only trace, in the JSON.
counts() {
    query "[d[0]['trace']['transactions'], d[0]['trace']['not_atomic'], d[0]['results'][0]['verdict']] == [$1, $2, '$3']"
}

@test "blocks inside one that is excluded become transactions" {
    cd "$BATS_FILE_TMPDIR"
    tms check --json nested.std
    [ "$status" -eq 1 ]
    counts 2 0 violation
    tms check --json --verbose --not-atomic=serve nested.std
    [ "$status" -eq 0 ]
    valid result
    counts 3 1 serializable
    [[ $flat == *"Checked: 12 events of 2 threads, 3 atomic blocks, 2 events outside blocks, 2 variables, 0 locks; not atomic: 1 block."* ]]
    [[ $stderr != *"no label"* ]]
}

@test "the last rule that matches counts, whichever option it came from" {
    cd "$BATS_FILE_TMPDIR"
    printf 'not-atomic serve\n' >serve.spec
    tms check -q --json --not-atomic=serve --atomic='*' nested.std
    counts 2 0 violation
    tms check -q --json --atomic='*' --not-atomic=serve nested.std
    counts 3 1 serializable
    tms check -q --json --atomic='*' --spec=serve.spec nested.std
    counts 3 1 serializable
    tms check -q --json --spec serve.spec --atomic 'serve(int)' nested.std
    counts 1 3 violation
    tms check -q --json --spec serve.spec --atomic 'serve(long)' --atomic '*e*' nested.std
    counts 1 1 violation
}

@test "one rule that says atomic lists what is" {
    tms check -q --json --atomic=nothing-like-it lost.std
    [ "$status" -eq 0 ]
    counts 0 2 serializable
    tms check -q --json --not-atomic=nothing-like-it lost.std
    [ "$status" -eq 1 ]
    counts 2 0 violation
}

@test "if no block is atomic, the report does not call the run fine" {
    tms check --engine=frontier,sidetrack --not-atomic='*' lost.std
    [ "$status" -eq 0 ]
    [[ $stderr == "lost.std: serializable: nothing was declared atomic in this run."* ]]
    [[ $flat == *"None of the blocks in the trace is meant to be atomic, "*"this says nothing about the program. Name atomic blocks with --atomic or --spec"* ]]
    [[ $flat == *"not atomic: 2 blocks."* ]]
    # A function main that nothing declares is the same.
    printf 'A|enter(main)\nA|w(x)\nA|exit(main)\n' >main.std
    tms check main.std
    [[ $flat == *"None of the blocks in the trace is meant to be atomic"* ]]
    printf 'A|enter(main)\nA|w(x)\nB|r(x)\nB|w(x)\nA|w(x)\nA|exit(main)\n' >main.std
    tms check --atomic=main main.std
    [ "$status" -eq 1 ]
}

@test "patterns that matched nothing are named once, at the end, with where they are from" {
    printf '# rules\natomic dep*\n\nnot-atomic depost\n' >typo.spec
    tms check --spec=typo.spec --not-atomic='with*' fine.std lost.std
    [ "$status" -eq 1 ]
    [ "$(grep -c '^tmesis: no label was seen that matches ' <<<"$stderr")" -eq 2 ]
    [ "$(tail -n 2 <<<"$stderr")" = 'tmesis: no label was seen that matches not-atomic "depost" (typo.spec:4)
tmesis: no label was seen that matches not-atomic "with*"' ]
    # It matched in one of the traces.
    printf 'A|begin(withdraw)\nA|end\n' >other.std
    tms check --not-atomic='with*' fine.std other.std
    [[ $stderr != *"no label was seen"* ]]
    # Not for a trace that was not read completely.
    tms check --first --not-atomic='with*' lost.std
    [[ $stderr != *"no label was seen"* ]]
    tms check --not-atomic='with*' fine.std not-there.std
    [[ $stderr != *"no label was seen"* ]]
    tms check -q --not-atomic='with*' fine.std
    [[ $stderr != *"no label was seen"* ]]
}

@test "blocks without a label" {
    printf 'A|begin\nA|r(x)\nB|w(x)\nA|w(x)\nA|end\n' >bare.std
    tms check -q --json --not-atomic='""' bare.std
    counts 0 1 serializable
    tms check -q --json --atomic='*' bare.std
    counts 1 0 violation
}

@test "a specification that is wrong: one sentence, and nothing is checked" {
    printf 'atomic deposit\ndeposit\n' >wrong.spec
    mkdir directory.spec
    check_wrong() {
        tms check "$@" lost.std
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    }
    check_wrong --json --spec=wrong.spec
    [ "$stderr" = 'tmesis: wrong.spec:2: expected "atomic PATTERN" or "not-atomic PATTERN", found "deposit"' ]
    check_wrong --spec=not-there.spec
    [[ $stderr == "tmesis: not-there.spec: can't be opened: "* ]]
    check_wrong --spec=directory.spec
    [[ $stderr == "tmesis: directory.spec: is a directory; "* ]]
    check_wrong --not-atomic="dep\\"
    [[ $stderr == 'tmesis: --not-atomic: the pattern "dep\" ends with a single backslash; '* ]]
    check_wrong --atomic=
    [[ $stderr == "tmesis: --atomic needs a value (PATTERN), and got an empty one" ]]
    check_wrong --no-atomic=deposit
    [[ $stderr == "tmesis: check has no option --no-atomic; did you mean --not-atomic?" ]]
    check_wrong --spec=- -
    [[ $stderr == 'tmesis: standard input ("-") can be read only once' ]]
}

@test "a specification from standard input, and a compressed one" {
    run --separate-stderr "$tmesis" check -q --json --spec=- lost.std <<<"not-atomic dep*"
    counts 0 2 serializable
    gzip <<<"not-atomic dep*" >rules.gz
    tms check -q --json --spec=rules.gz lost.std
    counts 0 2 serializable
    head -c -5 rules.gz >cut.gz
    tms check -q --spec=cut.gz lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"cut.gz"*"cut off"* ]]
}

@test "an empty specification changes nothing" {
    tms check -q --json --spec=/dev/null lost.std
    [ "$status" -eq 1 ]
    counts 2 0 violation
}

@test "every engine keeps to the specification" {
    cd "$BATS_FILE_TMPDIR"
    tms check -q --json --engine="$(observing)" --not-atomic=serve nested.std
    [ "$status" -eq 0 ]
    tms check -q --json --engine="$(observing)" nested.std
    [ "$status" -eq 1 ]
    query 'len(d[0]["results"]) > 8 and all(r["verdict"] == "violation" for r in d[0]["results"])'
}

# What RAPID's ExcludeMethods does, in its own words: no Enter or Exit line with one of the texts.
exclude() {
    awk 'FILENAME == ARGV[1] {sub(/\r$/, ""); text[NR] = $0; next}
        /Enter\(|Exit\(/ {for (i in text) if (index($0, text[i])) next} {print}' "$1" "$2"
}

# The recipe as docs/user/specifications.md has it.
make_spec() {
    recipe=$(grep -F '{ echo' "$top/docs/user/specifications.md")
    [ -n "$recipe" ]
    (eval "$recipe")
}

@test "a list made for RAPID's ExcludeMethods gives the same transactions and verdict" {
    cat >log.rr <<'END'
@ Enter(0,test/Bank.main([Ljava/lang/String;)V)
@ Start(0,1)
@ Enter(1,test/Teller.run()V)
@ Enter(1,test/Teller.serve([I)V)
@ Enter(1,test/Bank.deposit(I)V)
@ Wr(1,x)  Final  Bank.java:3:7
@ Exit(1,test/Bank.deposit(I)V)
@ Enter(0,test/Bank.audit()I)
@ Rd(0,x)  Final  Bank.java:4:7
@ Wr(0,y)  Final  Bank.java:5:7
@ Exit(0,test/Bank.audit()I)
@ Enter(1,test/Bank.deposit(I)V)
@ Rd(1,y)  Final  Bank.java:6:7
@ Exit(1,test/Bank.deposit(I)V)
@ Exit(1,test/Teller.serve([I)V)
@ Exit(1,test/Teller.run()V)
@ Join(0,1)
@ Exit(0,test/Bank.main([Ljava/lang/String;)V)
END
    # Lists, and what is left of the transactions by hand: of main, run, serve, deposit, audit.
    while IFS=: read -r wanted verdict texts; do
        printf '%b' "$texts" >list.txt
        make_spec
        cat list.spec
        exclude list.txt log.rr >excluded.rr
        tms check -q --json --atomic='*' excluded.rr
        # Blocks that rules leave out are known not to be atomic; without any, nothing was checked.
        all=$verdict
        [ "$wanted" -ne 0 ] || all=incomplete
        query "[d[0]['trace']['transactions'], d[0]['results'][0]['verdict']] == [$wanted, '$all']"
        tms check -q --json --spec=list.spec log.rr
        query "[d[0]['trace']['transactions'], d[0]['results'][0]['verdict']] == [$wanted, '$verdict']"
    done <<'END'
2:violation:
2:violation:main\n
2:violation:main([Ljava/lang/String;)V\nTeller.run\n
2:violation:main\r\nrun\r\n
3:serializable:main\nrun\n[I)V\n
3:serializable:.main(\nTeller.\n
1:serializable:main\nTeller\ndeposit
0:serializable:test/\n
0:serializable:main\n\n
END
}

@test "a label of any shape can be a rule of its own" {
    printf '%s\n' 'A|begin(a*[b]?\c#d)' 'A|r(x)' 'B|begin(other)' 'B|w(x)' 'B|end' 'A|w(x)' 'A|end' \
        'A|begin(a-b?\c#d)' 'A|end' >odd.std
    tms refine -q -o odd.spec odd.std
    tms check --json --spec=odd.spec odd.std
    [ "$status" -eq 0 ]
    counts 2 1 serializable
}

@test "the example of the documentation is a specification" {
    sed -n '/^# bank.spec$/,/^```$/{/^```/d; p}' "$top/docs/user/specifications.md" >bank.spec
    [ "$(wc -l <bank.spec)" -eq 4 ]
    printf 'A|enter(%s)\nA|exit(f)\n' 'Bank::audit(long)' 'Bank::audit(int)' 'Bank::deposit(int)' \
        'Teller::serve()' >calls.std
    tms check --json --spec=bank.spec calls.std
    counts 2 2 serializable
    [[ $stderr != *"no label was seen"* ]]
}
