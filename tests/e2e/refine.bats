#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis refine: what is not atomic is dropped until nothing changes, and the file says why.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

# dropped FILE: the labels of its not-atomic rules, sorted, on one line.
dropped() {
    sed -n 's/^not-atomic //p' "$1" | sort | paste -sd ' '
}

# planted: the labels that gen said it cut apart, as dropped shows them.
planted() {
    sed 's/.*cut apart: //; s/,//g' <<<"$stderr" | tr ' ' '\n' | sort | paste -sd ' '
}

@test "three planted labels of ten are found, they alone, and a check with the file is fine" {
    for seed in 1 2 3 4 5; do
        tms gen --events 20k --labels 10 --cut-labels 3 --nesting 3 --seed $seed -o t.std
        wanted=$(planted)
        [ "$(wc -w <<<"$wanted")" -eq 3 ]
        tms check -q t.std
        [ "$status" -eq 1 ]
        for engine in frontier regiontrack velodrome doublechecker; do
            tms refine --engine $engine -o t.spec t.std
            [ "$status" -eq 1 ]
            [ "$(dropped t.spec)" = "$wanted" ]
            [[ $stderr == *"tmesis: $engine, 2 rounds: 3 labels are not atomic, 18 blocks cut" ]]
            tms check --spec t.spec t.std
            [ "$status" -eq 0 ]
            [[ $stderr != *"no label was seen"* ]]
        done
    done
}

@test "forks, joins, threads that come and go, no locks" {
    for shape in "--fork-join --churn 20" "--locks 0 --threads 2" "--labels 3 --unary-share 0"; do
        # shellcheck disable=SC2086 # words
        tms gen --events 9k --cut-labels 3 $shape -o t.tms
        wanted=$(planted)
        tms refine -q -o t.spec t.tms
        [ "$(dropped t.spec)" = "$wanted" ]
        tms check -q --spec t.spec t.tms
        [ "$status" -eq 0 ]
    done
}

@test "rounds and total, distinct and dynamic" {
    tms gen -q --events 20k --cut-labels 3 -o t.std
    tms refine -o t.spec t.std lost.std
    [ "$status" -eq 1 ]
    rows=$(awk '/^round/ {on = 1} /^traces:/ {on = 0} on {$NF = ""; $(NF - 1) = ""; print $0}' \
        <<<"$stderr" | sed 's/ *$//')
    [ "$rows" = $'round traces labels violations unblamed\n1 2 4 19 0\n2 0 0 0 0\ntotal 2 4 19 0' ]
}

@test "what is inside a dropped block shows in the next round" {
    cat >nested.std <<'EOF'
A|begin(outer)|o.c:1
A|r(x)|o.c:2
B|w(x)|b.c:1
A|w(x)|o.c:3
A|begin(inner)|i.c:1
A|r(y)|i.c:2
B|w(y)|b.c:2
A|w(y)|i.c:3
A|end
A|end
EOF
    tms refine --json=- -o n.spec nested.std
    [ "$status" -eq 1 ]
    query '[(r["labels"], r["violations"], r["transactions"]) for r in d[0]["rounds"]] == [(1, 1, 1), (1, 1, 1), (0, 0, 0)]'
    query '[(l["label"], l["round"], l["location"]) for l in d[0]["not_atomic"]] == [("outer", 1, "o.c:1"), ("inner", 2, "i.c:1")]'
    tms check -q --spec n.spec nested.std
    [ "$status" -eq 0 ]
}

@test "of nested blocks those that were cut themselves are dropped, at once" {
    cat >nested.std <<'EOF'
A|begin(outer)
A|begin(before)
A|r(z)
A|end
A|begin(around)
A|begin(cut)
A|r(x)
B|w(x)
A|w(x)
A|end
A|end
A|end
EOF
    tms refine -o n.spec nested.std
    [ "$(dropped n.spec)" = "around cut outer" ]
    [[ $stderr == *"2 rounds: 3 labels are not atomic, 1 block cut"* ]]
    grep -qF '# cut by B'\''s event 8 outside any block, on variable x, inside A'\''s outer' n.spec
    tms check --json -q --spec n.spec nested.std
    query 'd[0]["trace"]["transactions"] == 1' # before
}

@test "the file has reason, location, trace, event, round and count" {
    cp lost.std "it's lost.std"
    tms refine "it's lost.std"
    [ "$status" -eq 1 ]
    [[ $output == "# What is meant to be atomic, made by tmesis refine with frontier in 2 rounds from
#   it's lost.std
# "*"
# cut by B's deposit, on lock m
# "*"; it's lost.std, event 11; round 1, 1 violation
not-atomic deposit" ]]
    tms refine --engine regiontrack lost.std
    [[ $output == *"# cut by another thread (regiontrack does not determine which)"* ]]
}

@test "engines differ where the papers say so" {
    for engine in frontier regiontrack regiontrack-reduced regiontrack-blame reference; do
        tms refine -q --engine $engine -o a.spec "$golden/regiontrack-alpha3.std"
        [ "$(dropped a.spec)" = tx1 ]
        tms refine -q --engine $engine -o a.spec "$golden/regiontrack-alpha1.std"
        [ "$(dropped a.spec)" = "" ]
    done
    tms refine -q --engine velodrome -o a.spec "$golden/regiontrack-alpha3.std"
    [ "$status" -eq 1 ]
    [ "$(dropped a.spec)" = "" ] # it misses the blame
    [[ $flat == *"still not serializable: 1 violation is left in which velodrome finds no single block at fault"* ]]
    tms refine -q --engine doublechecker -o a.spec "$golden/regiontrack-alpha1.std"
    [ "$(dropped a.spec)" = tx1 ] # it blames who closes the cycle
}

@test "engines that point at no transaction are not taken" {
    for engine in aerodrome aerodrome-basic regiontrack-trace all frontier,velodrome; do
        tms refine --engine $engine lost.std
        [ "$status" -eq 2 ]
        [[ $stderr == *"--engine takes one of frontier, "* ]]
    done
}

@test "without a block at fault nothing is dropped, and that is said" {
    tms refine -o n.spec blameless.std
    [ "$status" -eq 1 ]
    [ "$(dropped n.spec)" = "" ]
    [[ $flat == *"1 round: 0 labels are not atomic, 0 blocks cut tmesis: still not serializable: 1 violation is left in which frontier finds no single block at fault"* ]]
    grep -qF '# Still not serializable, without a block at fault: 1 violation' n.spec
}

@test "nothing to drop: an empty specification that changes nothing" {
    tms refine -o f.spec fine.std
    [ "$status" -eq 0 ]
    [[ $stderr == *"1 round: 0 labels are not atomic, 0 blocks cut" ]]
    tms check -q --spec f.spec lost.std
    [ "$status" -eq 1 ]
}

@test "all traces are held to the same rules in a round" {
    sed 's/deposit/withdraw/' lost.std >other.std
    tms refine --json -o t.spec lost.std other.std fine.std
    query '[(r["traces"], r["labels"], r["violations"]) for r in d[0]["rounds"]] == [(2, 2, 2), (0, 0, 0)]'
    query '[l["trace"] for l in d[0]["not_atomic"]] == ["lost.std", "other.std"]'
    tms check -q --spec t.spec lost.std other.std
    [ "$status" -eq 0 ]
}

# A label beside one that its pattern would match if it were not escaped.
@test "labels of any characters are dropped by themselves, and survive the file" {
    while read -r label like; do
        echo "label $label"
        while IFS= read -r line; do
            printf '%s\n' "${line//deposit/"$label"}"
        done <lost.std >t.std
        printf 'A|begin(%s)\nA|r(x)\nA|end\n' "$like" >>t.std
        tms refine -q -o t.spec t.std
        [ "$status" -eq 1 ]
        tms check -q --json --spec t.spec t.std
        [ "$status" -eq 0 ]
        query 'd[0]["trace"]["transactions"] == 1'
        tms refine -q -o again.spec --spec t.spec t.std # nothing to drop any more
        [ "$status" -eq 0 ]
        diff <(dropped t.spec) <(dropped again.spec)
    done <<'EOF'
dep* deposit
dep?sit deposit
[ab]x ax
a\b ab
#x x
op[] op
"" x
not-atomic atomic
ünï*cöde ünïcöde
f(int) f(long)
EOF
}

@test "blocks without a label go together" {
    printf '%s\n' 'A|begin' 'A|r(x)' 'B|w(x)' 'A|w(x)' 'A|end' >t.std
    tms refine --json -o t.spec t.std
    [ "$status" -eq 1 ]
    [ "$(dropped t.spec)" = '""' ]
    query 'd[0]["not_atomic"][0]["label"] is None'
    tms check -q --spec t.spec t.std
    [ "$status" -eq 0 ]
}

@test "functions of a RoadRunner log" {
    printf '@ %s\n' 'Enter(1,T.run())' 'Enter(1,A.get())' 'Rd(1,x)' 'Wr(2,x)' 'Wr(1,x)' \
        'Exit(1,A.get())' 'Rd(1,y)' 'Wr(2,y)' 'Wr(1,y)' 'Exit(1,T.run())' >t.rr
    tms refine -q -o t.spec t.rr
    [ "$status" -eq 1 ]
    [ "$(dropped t.spec)" = 'A.get()' ] # run is not meant to be atomic in the first place
    tms check -q --spec t.spec t.rr
    [ "$status" -eq 0 ]
}

@test "rules that were given come first in the file, in their order" {
    printf 'atomic d*  # those\nnot-atomic z* \n' >given.spec
    tms refine -o t.spec --not-atomic ' # odd ' --spec given.spec --atomic 'a\#[#]b' lost.std
    [ "$status" -eq 1 ]
    [[ $stderr == *"no label was seen that matches not-atomic \"z*\" (given.spec:2)"* ]]
    [ "$(grep -vE '^(#|$)' t.spec | paste -sd '|')" = \
        'not-atomic \ \# odd\ |atomic d*|not-atomic z*|atomic a\#[\#]b|not-atomic deposit' ]
    tms refine -q -o again.spec --spec t.spec lost.std
    [ "$status" -eq 0 ]
    diff <(grep -vE '^(#|$)' t.spec) <(grep -vE '^(#|$)' again.spec)
    tms refine -q --not-atomic deposit lost.std
    [ "$status" -eq 0 ]
}

@test "JSON keeps to its schema" {
    for trace in lost.std fine.std blameless.std; do
        tms refine -q --json -o t.spec $trace
        valid refine
    done
    tms refine -q --json=out.json -o - lost.std
    [[ $output == "# What is meant"* ]]
    output=$(cat out.json)
    valid refine
}

@test "standard input and standard output" {
    tms refine - <lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"reads its traces several times, so standard input (\"-\") is not possible"* ]]
    tms refine --json lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"can't both go to standard output"* ]]
    run bash -c 'echo "not-atomic deposit" | "$0" refine -q --spec - lost.std' "$tmesis"
    [ "$status" -eq 0 ]
    tms refine -q lost.std
    same=$output
    tms refine -q -o - lost.std
    [ "$output" = "$same" ]
}

@test "the file is written whole or not at all" {
    echo precious >old.spec
    tms refine -o old.spec lost.std bad.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"bad.std:2"* ]]
    [ "$(cat old.spec)" = precious ]
    tms refine -o new.spec missing.std
    [ "$status" -eq 2 ]
    [ ! -e new.spec ]
    [ "$(echo ./*~)" = './*~' ]
    tms refine -o lost.std lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"the same file"* ]]
    cmp lost.std "$golden/lost-update-locked.std"
    tms refine -o nowhere/x.spec lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"nowhere/x.spec can't be written"* ]]
    tms refine -q -o /dev/full lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"/dev/full could not be written"* ]]
    chmod 600 old.spec
    ln -s old.spec link.spec
    tms refine -q -o link.spec lost.std
    [ -L link.spec ]
    [ "$(dropped old.spec)" = deposit ]
    [ "$(stat -c %a old.spec)" = 600 ]
}

@test "what could not be checked is incomplete" {
    printf 'A|begin(f)\nA|acq(m)\nB|acq(m)\nA|end\n' >t.std
    tms refine t.std
    [ "$status" -eq 2 ]
    tms refine --lenient -o t.spec t.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"t.std: not everything was checked: 1 event was not well-formed and skipped"* ]]
    [ "$(grep -c 'skipped' <<<"$stderr")" -le 2 ] # said in one round only
    tms gen -q --events 12k -o long.std
    tms refine --engine reference -o t.spec long.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"long.std: not everything was checked: the trace is too long"* ]]
}

@test "a program: what affects data is named and stays atomic, the rest is dropped" {
    "$tmesis" cc -O1 -g -o bank "$top/examples/bank/buggy.c"
    "$tmesis" cc -O1 -g -o fixed "$top/examples/bank/fixed.c"
    tms refine --perturb=1 --runs=2 -o bank.spec --json=bank.json -- ./bank
    [ "$status" -eq 1 ]
    [[ $output == *"paid in"*"paid in"* ]]
    [[ $stderr == *"tmesis: error: deposit, "*", lost-update (AV-"*"): it stays atomic"* ]]
    [ "$(dropped bank.spec)" = '' ]
    grep -q '^#   error: deposit, .*, lost-update (AV-' bank.spec
    [ "$(jq -r '.traces[1], .kept[0].label, .kept[0].level' bank.json | paste -sd ' ')" = \
        './bank, run 2 deposit error' ]
    tms refine -q -o fixed.spec -- ./fixed
    [ "$status" -eq 0 ]
    run ! grep -q Kept fixed.spec
}

@test "a program in which only locks were interleaved: its function is dropped, status 0" {
    cat >order.c <<'CODE'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t meet;
static void in_between(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
void twice(int wait)
{
    pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
    if (wait) { /* the other thread has its turn here */
        sleep(1);
    }
    pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
}
static void *other(void *none)
{
    pthread_barrier_wait(&meet);
    for (int i = 0; i < 2500; i++) { in_between(); usleep(1000); }
    return none;
}
int main(int count, char **words)
{
    pthread_t thread;
    (void)words;
    pthread_barrier_init(&meet, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    pthread_barrier_wait(&meet);
    twice(count > 1);
    pthread_join(thread, NULL);
    return count > 1 ? 7 : 0;
}
CODE
    "$tmesis" cc -O1 -g -fno-inline -o order order.c
    tms refine -o order.spec -- ./order --wait
    [ "$status" -eq 0 ]
    [[ $stderr == *"it ended with status 7"* ]]
    [ "$(dropped order.spec)" = twice ]
    tms run -q --spec=order.spec ./order
    [ "$status" -eq 0 ]
}

@test "operands after -- may still be traces; programs that can't be watched are refused" {
    tms refine -q -o t.spec -- lost.std
    [ "$status" -eq 1 ]
    [ "$(dropped t.spec)" = deposit ]
    tms refine -- true
    [ "$status" -eq 2 ]
    [[ $stderr == *"was not built with tmesis cc"* ]]
    tms refine -- ./nosuch
    [ "$status" -eq 2 ]
    tms refine --runs=0 -- ./nosuch
    [ "$status" -eq 2 ]
}
