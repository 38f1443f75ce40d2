#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Hunts: what is counted over many runs, how programs may end, what is left of them, results,
# shards and their merging.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

setup_file() {
    export programs=$BATS_FILE_TMPDIR
    "${TMESIS:-$BATS_TEST_DIRNAME/../../build/tmesis}" cc -g "$BATS_TEST_DIRNAME/hunt/work.c" \
        -o "$programs/work"
}

teardown() {
    umount small 2>/dev/null || true
}

# hunt ARGUMENT…: like tms, with temporary files where nothing_left looks for them.
hunt() {
    mkdir -p temporary
    TMPDIR=$PWD/temporary tms hunt "$@"
}

# result EXPRESSION [DIR]: a Python expression over `d`, the result; it has to be true.
result() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[2] + "/result.json"))
judged = {v["id"]: v for r in d["results"] if r["engine"] == "judge" for v in r["violations"]}
runs = [json.loads(line) for line in open(sys.argv[2] + "/runs.jsonl")]
value = eval(sys.argv[1])
print(value)
sys.exit(0 if value is True else 1)' "$1" "${2:-out}"
}

# nothing_left: neither temporary files nor processes with this test in their environment.
nothing_left() {
    [ -z "$(ls -A temporary)" ]
    for _ in {1..100}; do
        left=$(grep -lzsF "TMPDIR=$PWD/temporary" /proc/[0-9]*/environ || true)
        [ -n "$left" ] || return 0
        sleep 0.05
    done
    echo "$left"
    false
}

@test "no time is refused, and a report replaces no file of the result" {
    hunt --time=0 "$programs/work"
    [ "$status" -eq 2 ]
    [ "$stderr" = "tmesis: --time takes more than 0 seconds" ]
    hunt -q --runs=1 -o kept "$programs/work"
    for file in result.json runs.jsonl; do
        cp "kept/$file" before
        tms report --format=csv -o "kept/$file" kept
        [ "$status" -eq 2 ]
        cmp "kept/$file" before
    done
}

@test "every run has a seed, a schedule and a record" {
    hunt --runs=3 --seed=40 -o out "$programs/work"
    result '[r["seed"] for r in runs] == [40, 41, 42]'
    result '[r["index"] for r in runs] == [0, 1, 2]'
    result 'd["hunt"]["runs"] == 3 and d["hunt"]["failed"] == 0 and d["hunt"]["whole"]'
    result 'd["hunt"]["hunts"][0]["planned"] == 3 and d["seed"] == 40'
    result 'all("seed %d\n" % r["seed"] in r["schedule"] for r in runs)'
    [[ $flat == *"3 runs in "*"the program failed in 0 of them"*"the result is in out"* ]]
    nothing_left
}

@test "a finding says in how many runs it was seen, and with which seed first" {
    hunt --runs=3 --seed=40 -o out "$programs/work"
    [ "$status" -eq 1 ]
    result 'len(judged) > 0'
    result 'all(1 <= v["runs"] <= 3 and 40 <= v["first_seed"] <= 42 and v["failed_runs"] == 0
                for v in judged.values())'
    [[ $flat == *" · seen in "[123]" of 3 runs, first with seed 4"* ]]
    for id in $(python3 -c 'import json
print(*(v["id"] for r in json.load(open("out/result.json"))["results"] if r["engine"] == "judge"
        for v in r["violations"]))'); do
        grep -qx 'tmesis-schedule 1' "out/schedules/$id"
    done
}

@test "the sums of a result are those of its records" {
    hunt --runs=4 --seed=1 -o out "$programs/work"
    result 'all(v["cut"] == sum(f["cut"] for r in runs for f in r["findings"] if f["id"] == i)
                for i, v in judged.items())'
    result 'all(v["runs"] == sum(f["evidence"] == v["evidence"] for r in runs
                                 for f in r["findings"] if f["id"] == i)
                for i, v in judged.items())'
    result 'd["trace"]["transactions"] == sum(r["trace"]["transactions"] for r in runs)'
}

@test "--json writes the result too, and both keep to the schema" {
    hunt -q --runs=2 --seed=1 -o out --json=all.json "$programs/work"
    cmp all.json out/result.json
    output=$(cat all.json)
    valid result
}

@test "report and explain show a result again" {
    hunt --runs=2 --seed=1 -o out "$programs/work"
    grep -v '^tmesis: ' <<<"$stderr" >first
    tms report out
    [ "$status" -eq 0 ]
    diff first <(echo "$output")
    tms report out/result.json
    diff first <(echo "$output")
    id=$(grep -o 'AV-[0-9a-f]*' first | head -n 1)
    tms explain out "$id"
    [ "$status" -eq 0 ]
    [[ $output == *"$id"* ]]
}

@test "report takes the result of a single run" {
    TMPDIR=$PWD run "$tmesis" run --json=one.json "$programs/work"
    tms report one.json
    [ "$status" -eq 0 ]
    [[ $output == *"$programs/work: "* ]]
    tms report nothing.json
    [ "$status" -eq 2 ]
    [[ $flat == *"nothing.json can't be read"* ]]
}

@test "statuses, signals and assertions are counted" {
    hunt --runs=2 --seed=5 -o a "$programs/work" status
    [ "$status" -eq 1 ]
    [[ $flat == *"2 runs ended with status 7, first with seed 5"* ]]
    hunt --runs=2 --seed=5 -o b "$programs/work" crash
    [[ $flat == *"2 runs ended by SIGSEGV, first with seed 5"* ]]
    hunt --runs=1 --seed=5 -o c "$programs/work" assert
    [[ $flat == *"1 run ended by SIGABRT, first with seed 5: "*"Assertion "*"balance < 0"* ]]
    grep -q 'Assertion .*balance < 0' c/logs/run-0.txt
    result 'd["hunt"]["outcomes"][0]["signal"] == 6' c
    result 'd["hunt"]["failed"] == 2 and runs[1]["outcome"]["status"] == 7' a
    nothing_left
}

@test "a program that deadlocks, or serves until it is killed, takes too long" {
    hunt --runs=2 --seed=1 --timeout=1 -o a "$programs/work" deadlock
    [ "$status" -eq 1 ]
    [[ $flat == *"2 runs took too long, first with seed 1"* ]]
    result 'd["hunt"]["timeouts"] == 2' a
    hunt --runs=1 --seed=1 --timeout=3 -o b "$programs/work" server
    result 'd["hunt"]["timeouts"] == 1 and len(d["results"]) > 0' b
    nothing_left
}

@test "a program that ignores SIGTERM is killed, and what it did still counts" {
    hunt --runs=1 --seed=1 --timeout=3 -o out "$programs/work" stubborn
    [ "$status" -eq 1 ]
    result 'd["hunt"]["timeouts"] == 1 and len(d["results"]) > 0'
    nothing_left
}

@test "a daemon that a program starts does not outlive its run" {
    hunt --runs=2 --seed=1 -o out "$programs/work" daemon
    [ -s daemon ]
    nothing_left
}

@test "a program that kills its process group leaves nothing" {
    hunt --runs=1 --seed=1 -o out "$programs/work" group
    [ "$status" -eq 1 ]
    [[ $flat == *"1 run ended by SIGKILL"* ]]
    nothing_left
}

@test "every run gets the same standard input" {
    mkdir temporary
    export TMPDIR=$PWD/temporary
    tms hunt --runs=2 --seed=1 -o a "$programs/work" read < <(echo hello)
    result 'd["hunt"]["failed"] == 0' a
    echo hello >file
    tms hunt --runs=2 --seed=1 -o b "$programs/work" read <file
    result 'd["hunt"]["failed"] == 0' b
    tms hunt --runs=1 --seed=1 -o c "$programs/work" read </dev/null
    result 'd["hunt"]["failed"] == 1' c
    cmp a/input file
    [ ! -e c/input ]
}

@test "a pipe that does not end can be interrupted" {
    mkdir -p temporary
    mkfifo pipe
    exec 7<>pipe
    TMPDIR=$PWD/temporary "$tmesis" hunt --runs=1 -o out "$programs/work" <pipe 2>err 3>&- &
    hunting=$!
    for _ in {1..200}; do
        [ ! -e out/input ] || break
        sleep 0.05
    done
    kill -TERM "$hunting"
    status=0
    wait "$hunting" || status=$?
    [ "$status" -eq 2 ]
    grep -q 'interrupted before the first run' err
    [ ! -e out ]
    nothing_left
}

@test "the environment is kept, without what may be secret" {
    MALLOC_ARENA_MAX=2 MY_PASSWORD=open hunt -q --runs=1 --seed=1 -o out "$programs/work"
    grep -q '"MALLOC_ARENA_MAX": "2"' out/environment.json
    nothing=$(grep -c PASSWORD out/environment.json || true)
    [ "$nothing" = 0 ]
}

@test "the output of the program is discarded" {
    hunt -q --runs=1 --seed=1 -o out "$programs/work"
    [ -z "$output" ]
}

# interrupted SIGNAL STATUS: a hunt gets it while a run hangs, after another has ended.
interrupted() {
    mkdir -p temporary
    touch failed
    TMPDIR=$PWD/temporary setsid "$tmesis" hunt --runs=9 --seed=1 -o out --timeout=60 \
        bash -c 'if [ -e failed ]; then rm failed; exec "$0"; else touch hangs; exec "$0" server; fi' \
        "$programs/work" 2>err 3>&- &
    local hunting=$! status=0
    for _ in {1..600}; do
        [ ! -e hangs ] || break
        sleep 0.05
    done
    [ -e hangs ]
    kill "-$1" "$hunting"
    wait "$hunting" || status=$?
    cat err
    # shellcheck disable=SC2053 # it is a pattern
    [[ $status == $2 ]]
}

@test "an interrupted hunt keeps and reports what it has" {
    interrupted TERM "[13]"
    grep -q 'the hunt was interrupted' err
    result 'd["hunt"]["runs"] == 1 and d["hunt"]["failed"] == 0 and not d["hunt"]["whole"]'
    nothing_left
}

@test "a hunt that is killed leaves no processes, and a result that can be read" {
    interrupted KILL 137
    [ "$(wc -l <out/runs.jsonl)" -eq 1 ]
    tms merge -q out -o merged
    [ "$status" -eq 0 ]
    result 'd["hunt"]["runs"] == 1 and not d["hunt"]["whole"]' merged
    for _ in {1..200}; do
        [ -n "$(ls -A temporary)" ] || break
        sleep 0.05
    done
    nothing_left
}

@test "shards together make the runs of one process" {
    hunt -q --runs=5 --seed=9 -o whole "$programs/work" status
    for i in 0 1; do
        hunt -q --runs=5 --seed=9 --shard=$i/2 -o part$i "$programs/work" status
    done
    tms merge part1 part0 -o merged
    [ "$status" -eq 0 ]
    result '[r["seed"] for r in sorted(runs, key=lambda r: r["index"])] == [9, 10, 11, 12, 13]' merged
    result 'd["hunt"]["runs"] == 5 and d["hunt"]["failed"] == 5 and d["hunt"]["whole"]' merged
    result '[r["index"] for r in runs] == [1, 3]' part1
    result 'd["hunt"]["hunts"][0]["hunt"] == json.load(open("whole/result.json"))["hunt"]["hunts"][0]["hunt"]' merged
}

@test "merging is idempotent, its order does not matter, and partial shards are named" {
    for i in 0 1 2; do
        hunt -q --runs=6 --seed=9 --shard=$i/3 -o part$i "$programs/work"
    done
    tms merge part0 part1 part2 -o one
    tms merge part2 part0 part1 part0 -o two
    cmp one/result.json two/result.json
    tms merge one two part1 -o three
    cmp one/result.json three/result.json
    cmp <(sort one/runs.jsonl) <(sort three/runs.jsonl)
    tms merge part0 part2 -o some
    [[ $flat == *"shard 1/3 of seed 9 is partial"* ]]
    result 'd["hunt"]["hunts"][0]["partial_shards"] == [1] and not d["hunt"]["whole"]' some
}

@test "a quiet hunt says why it fails" {
    hunt -q --runs=2 --seed=9 -o out "$programs/work" status
    [ "$status" -eq 1 ]
    [[ $flat == *"tmesis: the program failed in 2 of 2 runs "* ]]
}

@test "hunts of different programs are not merged" {
    cp "$programs/work" other
    hunt -q --runs=1 --seed=9 -o one "$programs/work"
    hunt -q --runs=1 --seed=9 -o two ./other
    tms merge one two -o both
    [ "$status" -eq 2 ]
    [[ $flat == *"two is a hunt of other, and the first one of work; merge joins hunts of one program"* ]]
    [ ! -e both ]
    echo '{}' >result.json
    tms merge one result.json -o both
    [[ $flat == *"result.json is not the result of a hunt; other results are joined by tmesis history import"* ]]
    head -c 100 one/result.json >result.json
    tms merge one result.json -o both
    [[ $flat == *"result.json: line 1 is not JSON"*"expected the result of a hunt"* ]]
    tms merge one none -o both
    [[ $flat == *"none can't be read: No such file or directory"* ]]
    [ ! -e both ]
}

@test "a last line that is cut off is passed over, other lines have to be right" {
    hunt -q --runs=2 --seed=9 -o out "$programs/work"
    printf '{"hunt": "12' >>out/runs.jsonl
    tms merge out -o one
    [ "$status" -eq 0 ]
    result 'd["hunt"]["runs"] == 2' one
    printf '\n' >>out/runs.jsonl
    tms merge out -o two
    [ "$status" -eq 2 ]
    [[ $flat == *"out/runs.jsonl: line 3 is not the record of a run"* ]]
    [ ! -e two ]
}

@test "jobs at a time make the same runs" {
    hunt -q --runs=5 -j 3 --seed=9 -o out "$programs/work"
    result 'sorted(r["index"] for r in runs) == [0, 1, 2, 3, 4]'
    nothing_left
}

@test "findings that go with failures are ranked first" {
    hunt --runs=4 --seed=9 -o out "$programs/work" alternate
    result 'd["hunt"]["failed"] == 2'
    result 'all(0 < v["failure_p"] <= 1 for v in judged.values())'
    result '[v["id"] for v in judged.values()] == [v["id"] for v in sorted(judged.values(),
            key=lambda v: (v["failure_p"] if v["failure_p"] < 0.05 else 1,
                           ["error", "warning", "note"].index(v["level"]),
                           ["observed", "predicted", "potential"].index(v["evidence"]),
                           v["runs"], v["id"]))]'
}

@test "without limits a hunt ends when nothing new appears" {
    hunt --seed=1 -o out "$programs/work" calm
    [ "$status" -eq 0 ]
    result 'd["hunt"]["runs"] == 25 and d["hunt"]["hunts"][0]["planned"] is None'
}

@test "--time ends a hunt" {
    hunt --time=3 --seed=1 -o out "$programs/work" calm
    result 'd["hunt"]["runs"] >= 1 and d["hunt"]["hunts"][0]["planned"] is None'
    hunt --time=1 --timeout=60 --seed=1 -o none "$programs/work" server
    [ "$status" -eq 3 ]
    [[ $flat == *"no run ended in that time"* ]]
    [ ! -e none ]
    nothing_left
}

@test "the directory may be given with a slash after it" {
    hunt -q --runs=2 -o new/out// "$programs/work"
    [ -s new/out/result.json ]
    hunt -q --runs=2 -o new/out/ "$programs/work"
    [ "$status" -eq 2 ]
    [[ $flat == *"the directory new/out/ can't be made: it is there already"* ]]
}

@test "what can't be run or written is said in one sentence" {
    hunt --runs=2 -o out ./nothing
    [ "$status" -eq 2 ]
    [[ $flat == *"./nothing can't be started: No such file or directory"* ]]
    [ ! -e out ]
    mkdir there
    hunt --runs=2 -o there "$programs/work"
    [ "$status" -eq 2 ]
    [[ $flat == *"the directory there can't be made: it is there already"* ]]
    hunt --runs=2 --shard=3/2 --seed=1 "$programs/work"
    [ "$status" -eq 2 ]
    [[ $flat == *"--shard takes I/N"* ]]
    hunt --runs=2 --shard=1/2 "$programs/work"
    [[ $flat == *"--shard needs --seed"* ]]
    hunt --runs=0 "$programs/work"
    [ "$status" -eq 2 ]
    tms merge there
    [[ $flat == *"merge needs -o DIR"* ]]
    tms merge there -o more
    [ "$status" -eq 2 ]
    [[ $flat == *"there/result.json can't be read"* ]]
    nothing_left
}

@test "on a full disk the hunt goes on, and what was written stays whole" {
    mkdir small
    mount -t tmpfs -o size=40k tmpfs small 2>/dev/null || skip "no file system can be mounted here"
    hunt --runs=4 --seed=1 -o small/out "$programs/work" status
    [ "$status" -eq 2 ]
    [[ $flat == *"No space left on device; the hunt goes on without it"* ]]
    [[ $flat == *"4 runs in "*"the result, as far as it could be written, is in small/out"* ]]
    result 'd["schema"] == 1 and all(r["hunt"] for r in runs)' small/out
    nothing_left
}

@test "options for run reach every run" {
    hunt -q --runs=2 --seed=1 -o out --not-atomic=deposit --not-atomic=pay --ignore-variable=none "$programs/work"
    result 'not any(v["block"]["label"] == "deposit" for v in judged.values())'
    result 'd["hunt"]["hunts"][0]["options"][0] == "--not-atomic=deposit"'
    hunt --runs=2 -o bad --spec=nowhere "$programs/work"
    [ "$status" -eq 2 ]
    [[ $flat == *"nowhere"* ]]
    [ ! -e bad ]
}

@test "unmodified programs are hunted by their locks" {
    gcc -g "$here/hunt/work.c" -o plain
    hunt --runs=2 --seed=1 -o out ./plain
    result 'd["hunt"]["runs"] == 2 and d["trace"]["locks_only"]'
    nothing_left
}
