#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The report of what judge found: whole texts, and that it keeps to its lines and columns.
# shellcheck disable=SC2154 # common.bash sets them
load common

judged=--engine=frontier,judge,sidetrack

# like NAME: the report is that of NAME.report, but for ids and seconds.
like() {
    diff <(sed -E 's/AV-[0-9a-f]{6}/AV-IDENTI/; s/· [0-9.]+ s$/· 0.0 s/' <<<"$stderr") "$here/$1.report"
}

# fits COLUMNS LINES: no line is wider, and there are no more. The verdict and the counts are one line
# each, however long, for grep.
fits() {
    python3 -c 'import sys
lines = sys.argv[3].split("\n")
wide = [line for line in lines if len(line) > int(sys.argv[1]) and ".std: " not in line and " checked · " not in line]
assert not wide, wide
assert len(lines) <= int(sys.argv[2]), len(lines)' "$1" "$2" "$stderr"
}

reads() {
    printf '%s\n' 'T1|begin(audit)|audit.c:10' 'T1|acq(a.lock)|audit.c:11' \
        'T1|r(accounts[0].balance)|audit.c:12' 'T1|rel(a.lock)|audit.c:13' \
        'T2|begin(transfer)|bank.c:40' 'T2|acq(a.lock)|bank.c:41' \
        'T2|w(accounts[0].balance)|bank.c:42' 'T2|rel(a.lock)|bank.c:43' 'T2|acq(b.lock)|bank.c:44' \
        'T2|w(accounts[1].balance)|bank.c:45' 'T2|rel(b.lock)|bank.c:46' 'T2|end|bank.c:47' \
        'T1|acq(b.lock)|audit.c:14' 'T1|r(accounts[1].balance)|audit.c:15' \
        'T1|rel(b.lock)|audit.c:16' 'T1|end|audit.c:17'
}

# many COUNT: as many blocks that lose an update, each of a variable of its own.
many() {
    for ((i = 0; i < $1; i++)); do
        printf 'A|begin(block%d)|many.c:%d\nA|r(x%d)|many.c:%d\nB|w(x%d)|other.c:5\n' $i $((10 * i + 1)) $i $((10 * i + 2)) $i
        printf 'A|w(x%d)|many.c:%d\nA|end\n' $i $((10 * i + 4))
    done
}

@test "a lost update" {
    tms check $judged lost.std
    [ "$status" -eq 1 ]
    like judged-lost-update
    fits 80 25
}

@test "two reads of different states" {
    reads >reads.std
    tms check $judged reads.std
    [ "$status" -eq 1 ]
    like judged-inconsistent-reads
    fits 80 27
    run --separate-stderr env COLUMNS=60 "$tmesis" check $judged reads.std
    [[ $stderr == *$'accounts[1].balance from different\n'* ]]
    fits 60 25
}

@test "200 findings fit 60 lines, and all are there with --verbose" {
    many 200 >many.std
    tms check $judged many.std
    like judged-many
    fits 80 60
    [ "$(wc -l <<<"$stderr")" -ge 58 ]
    [[ $stderr =~ ([0-9]+)' more: --verbose' ]]
    [ $(($(grep -c '^✗ block' <<<"$stderr") + BASH_REMATCH[1])) -eq 200 ]
    tms check $judged --verbose many.std
    [ "$(grep -c '^✗ block' <<<"$stderr")" -eq 200 ]
    [ "$(grep -c '^  Fix  ' <<<"$stderr")" -eq 200 ]
    [[ $stderr != *"more: --verbose"* ]]
}

@test "notes are a line, unless they are asked for" {
    for ((i = 0; i < 3; i++)); do
        printf '%s\n' 'A|begin(count)' 'A|u(hits)' 'B|u(hits)' 'A|u(hits)' 'A|end'
    done >notes.std
    tms check $judged notes.std
    [[ $stderr == *"1 note: 1 interleaved-updates"*"0 errors · 0 warnings · 1 note (--notes) · "* ]]
    [[ $stderr != *"Why"* ]]
    tms check $judged --notes notes.std
    [[ $stderr == "· count() was cut: "*"  Why  "*"0 errors · 0 warnings · 1 note · "* ]]
}

@test "a prediction says so, and is counted apart" {
    tms check $judged "$top/examples/near-miss.std"
    [[ $stderr == '! deposit() can be cut: an update of balance can be lost     predicted AV-'* ]]
    [[ $flat == *" Why with another timing, "*"data was affected, but it can be with another timing. 0 errors · 0 warnings · 1 predicted · 0 notes"* ]]
}

@test "the verdict says both, and is all that --quiet leaves" {
    tms check -q $judged lost.std fine.std
    [ "$stderr" = $'lost.std: violation: not serializable; data was affected.\nfine.std: serializable: no atomic block was cut apart in this run; no data was affected.' ]
    tms check --engine=frontier lost.std
    [[ $flat == *"Not judged by data: --engine=judge shows which findings affected data."* ]]
}

@test "cycles, guarantees and suggestions are for --verbose" {
    tms check $judged lost.std
    [[ $stderr != *"must come before"* && $stderr != *"Engine frontier"* && $stderr != *"Next:"* ]]
    tms check $judged --verbose lost.std
    [[ $flat == *"event 3: A read balance "*"must come before"*"Engine frontier: "*"Next: "* ]]
}

@test "paths without a prefix, and relative to the working directory" {
    sed "s,audit.c,$PWD/src/audit.c,; s,bank.c,/elsewhere/far/bank.c," <(reads) >paths.std
    tms check $judged paths.std
    [[ $stderr == *$'\n  src/audit.c:10 · cut in'* ]]
    TMESIS_STRIP_PREFIX=$PWD/src tms check $judged paths.std
    [[ $stderr == *$'\n  audit.c:10 · cut in'* ]]
}

@test "colours: a level, a thread, and nothing else changes" {
    tms check $judged --color=always lost.std
    [[ $stderr == $'\e[1;31m✗ \e[0m'*$'\e[2m'*AV-* ]]
    plain=$(printf '%s\n' "$stderr" | sed 's/\x1b\[[0-9;]*m//g')
    a=$(grep -o $'\e\[[0-9]*mread balance' <<<"$stderr" | head -n 1)
    b=$(grep -o $'\e\[[0-9]*mwrite balance' <<<"$stderr" | sort -u)
    [ -n "$a" ]
    [ "$(wc -l <<<"$b")" -eq 2 ]
    [[ $b == *"${a%read balance}write balance"* ]]
    tms check $judged lost.std
    [ "${plain%·*}" = "${stderr%·*}" ]
}

@test "a heap block whose name is too long for the line is named by its type and number" {
    python3 "$here/reports/crowd.py" "$here/reports/bank.json" 1 >crowd.json
    tms report crowd.json
    flat=$(tr -s ' \n' ' ' <<<"$output")
    [[ $flat == *" nni_aio_expire_queue#240.a_expire was lost"* ]]
    [[ $flat == *" changed nni_aio_expire_queue#240.a_expire after T2 had read it"* ]]
}

# Four of a hundred executions are cut, each at three variables that have one name. The block waits for
# files, which tmesis does not take for waiting.
@test "an execution that is cut at several variables of one stack counts once" {
    cat >apart.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static const char *const done[4] = {"done0", "done1", "done2", "done3"};
static volatile int turn;
static void update(long *values, int number)
{
    long first = values[0], second = values[1], third = values[2];
    turn = number + 1;
    while (number < 4 && access(done[number], F_OK) != 0) {
        usleep(1000);
    }
    values[0] = first + 1;
    values[1] = second + 1;
    values[2] = third + 1;
}
static void *disturb(void *argument)
{
    long *values = argument;
    for (int i = 0; i < 4; i++) {
        while (turn != i + 1) {
            usleep(1000);
        }
        values[0] = values[1] = values[2] = i;
        close(creat(done[i], 0600));
    }
    return 0;
}
int main(void)
{
    pthread_t thread;
    long values[3] = {0};
    pthread_create(&thread, 0, disturb, values);
    for (int i = 0; i < 100; i++) {
        update(values, i);
    }
    return pthread_join(thread, 0);
}
END
    "$tmesis" cc -g apart.c -o apart
    tms run -q --json=found.json ./apart
    [ "$status" -eq 66 ]
    output=$(<found.json)
    query '[(v["executions"], v["cut"]) for r in d[0]["results"] if r["engine"] == "judge" for v in r["violations"] if v["pattern"] == "lost-update" and v["block"]["label"] == "update"] == [(100, 4)]'
}

# In a block a thread reads words, which another one overwrites before the block ends.
@test "what is shared beyond the limit makes the judgement incomplete" {
    cat >crowd.c <<'END'
#include <pthread.h>
#include <unistd.h>
static long words[WORDS], sum;
static volatile int looked, written;
static void look_at_all(void)
{
    for (int i = 0; i < WORDS; i++) {
        sum += words[i];
    }
    looked = 1;
    while (!written) {
        usleep(1000);
    }
}
static void write_all(void)
{
    for (int i = 0; i < WORDS; i++) {
        words[i] = i;
    }
}
static void *other(void *unused)
{
    while (!looked) {
        usleep(1000);
    }
    write_all();
    written = 1;
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    look_at_all();
    return pthread_join(thread, 0);
}
END
    "$tmesis" cc -g -DWORDS=100000 crowd.c -o few
    tms run ./few
    [ "$status" -eq 0 ]
    [[ $stderr == *"no data was affected."* ]]
    "$tmesis" cc -g -DWORDS=270000 crowd.c -o many
    tms run ./many
    [ "$status" -eq 3 ]
    [[ $(tr -s ' \n' ' ' <<<"$stderr") == *"judge did not see everything: threads shared more memory at a time than can be judged"* ]]
}

@test "what a rule hides, and what is expected in a driver, is not called unaffected" {
    tms check $judged lost.std
    [[ $stderr =~ AV-[0-9a-f]+ ]]
    tms check -q $judged --suppress="${BASH_REMATCH[0]}" lost.std
    [ "$stderr" = "lost.std: violation: not serializable; no data was affected except in suppressed findings." ]
    {
        printf '%s\n' 'A|begin(loop)|a.c:1' 'A|r(x)|a.c:2'
        for i in {1..6}; do
            printf 'A|acq(m)|a.c:3\nA|rel(m)|a.c:4\n'
        done
        printf '%s\n' 'B|w(x)|b.c:1' 'A|w(x)|a.c:5' 'A|end|a.c:6'
    } >driver.std
    tms check -q $judged driver.std
    [ "$stderr" = "driver.std: violation: not serializable; no data was affected except where other threads are expected (see --notes)." ]
}
