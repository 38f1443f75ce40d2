#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis check: exit status, the text for people, the JSON for programs.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

@test "exit status: violation, fine, bad input" {
    tms check lost.std
    [ "$status" -eq 1 ]
    tms check fine.std
    [ "$status" -eq 0 ]
    tms check bad.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"bad.std:2: "* ]]
    tms check not-there.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"not-there.std"* ]]
}

@test "exit status of several traces is the worst, and all are checked" {
    tms check -q fine.std lost.std
    [ "$status" -eq 1 ]
    tms check -q bad.std lost.std fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"lost.std: violation"*"fine.std: serializable"* ]]
    tms convert -q fine.std cut.tms
    head -c -20 cut.tms >cut.tms.part
    tms check -q fine.std cut.tms.part
    [ "$status" -eq 3 ]
    tms check -q cut.tms.part lost.std
    [ "$status" -eq 1 ]
}

@test "a lenient check goes on, and says that it is incomplete" {
    tms check --engine=frontier,sidetrack --lenient --json bad.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"bad.std: incomplete"* ]]
    [[ $flat == *"frontier, sidetrack did not see everything: "* ]]
    valid result
    query 'd[0]["results"][0]["verdict"] == "incomplete"'
    query 'd[0]["results"][0]["complete"] is False'
    query 'd[0]["trace"]["skipped"] == 1'
}

@test "the report of a lost update" {
    tms check --engine=frontier,sidetrack lost.std
    [ -z "$output" ]
    diff <(printf '%s\n' "$stderr" | sed 's/AV-[0-9a-f]*/AV-ID/') "$here/lost-update.report"
    tms check --engine=frontier --verbose lost.std
    [[ $stderr == *"Engine frontier: "* ]]
}

@test "the report of nested blocks names those that are refuted, and so does the JSON" {
    tms check --engine=frontier,sidetrack --verbose --json "$golden/nested-blocks.std"
    diff <(sed 's/AV-[0-9a-f]*/AV-ID/; s,^/.*/,,; /^No serial order/,$d' <<<"$stderr") "$here/nested-blocks.report"
    valid result
    query '[b["label"] for b in d[0]["results"][0]["violations"][0]["refuted"]] == ["transfer", "deposit"]'
    query 'd[0]["results"][0]["violations"][0]["refuted"][1]["begin"]["line"] == 20'
    tms check -q --json lost.std blameless.std
    valid result
    query '[v["label"] for v in d[0]["results"][0]["violations"][0]["refuted"]] == ["deposit"]'
    query '"refuted" not in d[1]["results"][0]["violations"][0]'
}

@test "violations that refute different inner blocks are different findings" {
    # The same cycle twice; the first time its begin is in an inner block.
    for inner in begin step; do
        echo "A|begin(f)"
        [ $inner = begin ] && echo "A|begin(g)"
        printf 'A|r(x)\nB|w(x)\nA|w(x)\n'
        [ $inner = begin ] && echo "A|end"
        echo "A|end"
    done >two.std
    tms check -q --json two.std
    query '[len(v["refuted"]) for v in d[0]["results"][0]["violations"]] == [2, 1]'
    cat two.std two.std >four.std
    tms check -q --json four.std
    query '[v["count"] for v in d[0]["results"][0]["violations"]] == [2, 2]'
}

@test "the report when no single block is at fault" {
    tms check --engine=frontier,sidetrack blameless.std
    [ "$status" -eq 1 ]
    [[ $flat == *"No single block is at fault"* ]]
    [[ $flat != *"At fault: "* ]]
    tms check --engine=frontier,sidetrack --no-blame lost.std
    [[ $flat == *"was not checked (--no-blame)"* ]]
}

@test "what the findings have in common is explained once" {
    for i in 1 2 3; do
        printf 'A|begin(f%s)\nA|r(x)\nB|w(x)\nA|w(x)\nA|end\n' $i
    done >three.std
    cat blameless.std >>three.std
    tms check --engine=frontier,reference --verbose three.std
    [ "$(grep -c '^ *At fault: A.s f[123] is not atomic (begin event [0-9]*, cut before event [0-9]*)\.$' <<<"$stderr")" -eq 3 ]
    [ "$(grep -c '^    No single block is at fault\.$' <<<"$stderr")" -eq 1 ]
    for once in "No serial order of the blocks" "A block at fault" "Where no single block is at fault" \
        "Engine frontier: " "Engine reference: "; do
        [ "$(grep -o "$once" <<<"$flat" | wc -l)" -eq 1 ]
    done
    tms check --engine=frontier,reference --no-blame three.std
    [ "$(grep -o "was not checked" <<<"$flat" | wc -l)" -eq 1 ]
}

@test "steps of one thread are in its order" {
    printf 'U|begin(f)\nU|w(x)\nT|begin(transfer)\nT|r(x)\nT|end\nT|begin(audit)\nT|w(y)\nT|end\nU|r(y)\n' >order.std
    tms check --engine=frontier,sidetrack order.std
    [[ $flat == *" b T ran transfer (event 4) before audit (event 7): the same thread, so in that order. c "* ]]
}

@test "steps of two threads are in the order of start, end and barrier" {
    tms check --engine=blocks --blocks=full --escape=off "$golden/blocks-through-start.std"
    [[ $flat == *" (event 5) before T2 ran something outside any block (event 7): a thread starts, ends or passes a barrier in between, so in that order. c "* ]]
    tms check --engine=blocks --blocks=full --escape=off "$golden/blocks-before-start.std"
    [[ $flat == *"none-potential"* ]]
}

@test "the report of a serializable run says what it does not mean" {
    tms check --engine=frontier,sidetrack fine.std
    [[ $stderr == "fine.std: serializable: no atomic block was cut apart in this run, and none is predicted to be."* ]]
    [[ $flat == *"only the events of this run were examined"* ]]
    tms check --engine=frontier fine.std
    [[ $stderr == "fine.std: serializable: no atomic block was cut apart in this run."* ]]
    [[ $flat == *"This holds for this run only"* ]]
    [[ $flat == *"Checked: 10 events of 2 threads, 2 atomic blocks, 0 events outside blocks, 1 variable, 1 lock."* ]]
}

@test "a trace without blocks says that there was nothing to violate" {
    tms check unmarked.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"no block that is meant to be atomic was seen"* ]]
    [[ $flat == *"this says nothing about the program"*"Mark the code that is meant to be atomic"* ]]
    : >empty.std
    tms check -q empty.std
    [ "$status" -eq 3 ]
    # Races and deadlocks need no block.
    tms check -q --engine=goodlock unmarked.std
    [ "$status" -eq 0 ]
}

@test "a trace that ends before its first block is not said to have none" {
    tms convert -q fine.std whole.tms
    head -c 60 whole.tms >part.tms
    tms check part.tms
    [ "$status" -eq 3 ]
    [[ $flat == *"is cut off within a section; "* ]]
    [[ $flat != *"Mark the code that is meant"* ]]
    printf 'A|r(x)\nA|hop\n' >hop.std
    tms check --lenient hop.std
    [ "$status" -eq 3 ]
    [[ $flat != *"Mark the code that is meant"* ]]
}

@test "the message about a malformed trace suggests --lenient" {
    tms check bad.std
    [[ $stderr == "tmesis: bad.std:2: "*"; --lenient skips such events" ]]
}

@test "a format that the trace is not in" {
    tms check --format rr lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == 'tmesis: lost.std: no line is an event; expected lines such as "@ Rd(0,x)"'*"because of --format)" ]]
    tms check --lenient --format rr lost.std
    [ "$status" -eq 2 ]
    for format in std tms regiontrack; do
        printf '@ Rd(0,x)\n' | run "$tmesis" check -q --format $format -
        [ "$status" -eq 2 ]
    done
    : >empty
    tms check -q --format rr empty
    [ "$status" -eq 3 ]
    [[ $stderr == "empty: incomplete"* ]]
    printf 'hello\n@ Sleep(0)\n' >talk.rr
    tms check -q --format rr talk.rr
    [ "$status" -eq 3 ]
}

@test "quiet: one line per trace" {
    tms check -q lost.std fine.std
    [ "$(wc -l <<<"$stderr")" -eq 2 ]
}

@test "suggestions are on consecutive lines" {
    tms check --verbose fine.std
    [[ $stderr == *$'Next:\n  tmesis check --potential fine.std  # '*$'\n  tmesis info fine.std               # '* ]]
    tms check --verbose lost.std
    [[ $stderr == *$'Next:\n  tmesis check --json lost.std  # '*$'\n  tmesis info lost.std          # '* ]]
}

@test "every suggested command works" {
    for trace in lost.std fine.std; do
        tms check --verbose "$trace"
        commands=$(sed -n 's/^  tmesis \([^#]*\)#.*/\1/p' <<<"$stderr")
        [ -n "$commands" ]
        while read -r -a words; do
            run --separate-stderr "$tmesis" "${words[@]}" </dev/null
            [ "$status" -le 1 ]
        done <<<"$commands"
    done
}

@test "several engines: findings once, and that they agree" {
    tms check --engine=frontier,reference --json lost.std
    [ "$status" -eq 1 ]
    [ "$(grep -c '^AV-' <<<"$stderr")" -eq 1 ]
    [[ $flat == *"reference: violation, first at event 11, 1 blamed; the same as frontier."* ]]
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "reference"]'
    query 'len({r["violations"][0]["id"] for r in d[0]["results"]}) == 1'
    tms check -q --engine="$(observing)" --json lost.std
    query 'len(d[0]["results"]) >= 7'
    query 'all(r["verdict"] == "violation" and r["first_violation_event"] >= 11 for r in d[0]["results"])'
    tms check --engine=frontier,regiontrack-blame fine.std
    [[ $flat == *"regiontrack-blame: none-blamed, which agrees with frontier."* ]]
}

@test "an engine that gives up says so" {
    tms gen -q --events=60k --violation=none --seed=1 -o big.std
    tms check --engine=frontier,reference --json big.std
    [ "$status" -eq 3 ]
    [[ $flat == *"too long"* ]]
    query 'd[0]["results"][0]["verdict"] == "serializable"'
    query 'd[0]["results"][1]["verdict"] == "incomplete"'
    query 'd[0]["results"][1]["complete"] is False'
}

@test "JSON: the fields of a lost update" {
    tms check -q --json lost.std
    [ "$status" -eq 1 ]
    valid result
    query 'd[0]["trace"]["path"] == "lost.std" and d[0]["trace"]["format"] == "std"'
    query '[d[0]["trace"][k] for k in ("events", "threads", "variables", "locks", "transactions", "unary")] == [14, 2, 1, 1, 2, 0]'
    query 'd[0]["results"][0]["first_violation_event"] == 11'
    query 'd[0]["results"][0]["violations"][0]["transaction"] == {"thread": "A", "label": "deposit", "begin_event": 1, "begin": {"location": "1"}}'
    query 'd[0]["results"][0]["violations"][0]["not_atomic"] is True'
    query '[(s["kind"], s["on"], s["first_event"], s["second_event"]) for s in d[0]["results"][0]["violations"][0]["cycle"]] == [("lock", "m", 4, 6), ("lock", "m", 9, 11)]'
}

@test "JSON: every golden trace keeps to the schema, and every cycle closes" {
    tms check -q --json --engine=all "$golden"/*.std
    [ "$status" -eq 1 ]
    valid result
    # A race is no cycle, and a deadlock one of threads.
    query 'all(s["to"] == c[(i + 1) % len(c)]["from"] for t in d for r in t["results"] for v in r["violations"] if v["kind"] not in ("race", "deadlock") for c in [v["cycle"] or []] for i, s in enumerate(c))'
    query 'all(s["to"]["thread"] == c[(i + 1) % len(c)]["from"]["thread"] for t in d for r in t["results"] for v in r["violations"] if v["kind"] == "deadlock" for c in [v["cycle"]] for i, s in enumerate(c))'
    query 'all(v["cycle"][0]["from"] == v["transaction"] for t in d for r in t["results"] for v in r["violations"] if v["cycle"] and v["kind"] not in ("race", "data"))'
    query 'all(v["cycle"] for t in d for r in t["results"] if r["engine"] in ("frontier", "reference", "velodrome", "sidetrack") for v in r["violations"])'
    query 'all((v["evidence"] == "observed") == (v["kind"] == "cycle") for t in d for r in t["results"] for v in r["violations"] if v["kind"] != "data")'
    query '{v["kind"] for t in d for r in t["results"] for v in r["violations"]} >= {"cycle", "before", "in", "after", "race", "deadlock", "pattern", "reduction", "data"}'
}

@test "JSON: bad input still gets its object" {
    tms check -q --json bad.std fine.std not-there.std
    [ "$status" -eq 2 ]
    valid result
    query '["error" in t for t in d] == [True, False, True]'
    query '"bad.std:2" in d[0]["error"]["message"]'
}

@test "JSON: names that need escaping, and bytes that are no UTF-8" {
    printf 'A|begin("q\\\xff")|a"b.c:7\nA|r(x)|a"b.c:8\nB|w(x)|\xc3\xa4.c:09\nA|w(x)|:\x1b3\n' >odd.std
    tms check -q --json --format=std odd.std
    [ "$status" -eq 1 ]
    valid result
    query 'd[0]["results"][0]["violations"][0]["transaction"]["label"] == "\"q\\\ufffd\""'
    query 'd[0]["results"][0]["violations"][0]["cycle"][0]["to"]["label"] is None'
    query 'd[0]["results"][0]["violations"][0]["cycle"][0]["first"] == {"location": "a\"b.c:8", "file": "a\"b.c", "line": 8}'
    query 'd[0]["results"][0]["violations"][0]["cycle"][0]["second"] == {"location": "\u00e4.c:09"}'
    query 'd[0]["results"][0]["violations"][0]["cycle"][1]["second"] == {"location": ":\x1b3"}'
    tms check --format=std odd.std
    [[ $stderr != *$'\033'* ]]
}

@test "JSON: to a file" {
    tms check -q --json=out.json lost.std fine.std
    [ -z "$output" ]
    output=$(cat out.json)
    valid result
    query 'len(d) == 2'
}

@test "groups, lists, and cuts off" {
    for _ in 1 2 3; do
        printf 'A|begin(f)\nA|r(x)\nB|w(x)\nA|w(x)\nA|end\n'
    done >thrice.std
    tms check --engine=frontier,sidetrack --json thrice.std
    query '[v["count"] for v in d[0]["results"][0]["violations"]] == [3]'
    [[ $flat == *"Seen 3 times; this is the first."*"check --all thrice.std"* ]]
    tms check -q --json --all thrice.std
    query '[v["event"] for v in d[0]["results"][0]["violations"]] == [4, 9, 14]'
    tms check --engine=frontier,sidetrack --json --all --max-violations=1 thrice.std
    query 'len(d[0]["results"][0]["violations"]) == 1 and d[0]["results"][0]["unlisted"] == 2'
    [[ $stderr == *"2 more of frontier are not listed (--max-violations)."* ]]
    tms check -q --json --first thrice.std
    [ "$status" -eq 1 ]
    query 'd[0]["results"][0]["violation_count"] == 1'
    query 'd[0]["trace"]["events"] < 15'
}

@test "split: a wait splits a block by default" {
    printf 'A|begin(f)\nA|acq(m)\nA|r(x)\nA|rel(m)\nA|wait(c)\nA|acq(m)\nA|w(x)\nA|rel(m)\nA|end\n' |
        sed '5i B|acq(m)\nB|w(x)\nB|rel(m)' >wait.std
    tms check -q wait.std
    [ "$status" -eq 0 ]
    tms check -q --split=barrier,fork wait.std
    [ "$status" -eq 1 ]
    tms check -q --split=none wait.std
    [ "$status" -eq 1 ]
}

@test "standard input, once" {
    run --separate-stderr bash -c '"$0" check -q - <lost.std' "$tmesis"
    [ "$status" -eq 1 ]
    [[ $stderr == "-: violation"* ]]
    tms check - -
    [ "$status" -eq 2 ]
    [[ $stderr == *"only once"* ]]
}

@test "colour only when asked for or on a terminal" {
    tms check lost.std
    [[ $stderr != *$'\033'* ]]
    tms check --color lost.std
    [[ $stderr == *$'\033['* ]]
    NO_COLOR=1 tms check --color=always lost.std
    [[ $stderr == *$'\033['* ]]
    run script -qec "$tmesis check lost.std" /dev/null
    [[ $output == *$'\033['* ]]
    NO_COLOR=1 run script -qec "$tmesis check lost.std" /dev/null
    [[ $output != *$'\033['* ]]
}

@test "stats" {
    tms check --stats lost.std
    [[ $stderr == *"Counts of frontier"*"events per second"*"closing edges"* ]]
}

@test "events for judge alone may come before the first event of a thread" {
    printf '%s\n' 'A|call(w)|1' 'A|clear|2' 'A|begin(f)|3' 'A|r(x)|4' 'B|call(w)|5' 'B|w(x)|6' \
        'A|w(x)|7' 'A|demote(f)|8' 'A|delay|9' 'A|return(f)|10' 'A|return(w)|11' >judged.std
    tms check -q --engine=all judged.std
    [ "$status" -eq 1 ]
    for engine in frontier fasttrack sidetrack reference; do
        tms check -q --engine="$engine,judge" --fail-on=error judged.std
        [ "$status" -eq 1 ]
        tms check -q --engine="judge,$engine" --fail-on=error judged.std
        [ "$status" -eq 1 ]
    done
}

@test "a flag with release and acquire orders, a relaxed one does not" {
    cat >flag.std <<'END'
A|w(data)|a.c:1
A|aw(flag,release)|a.c:2
B|ar(flag,acquire)|b.c:1
B|r(data)|b.c:2
END
    tms check --engine=fasttrack flag.std
    [ "$status" -eq 0 ]
    sed -i 's/acquire/relaxed/' flag.std
    tms check --engine=fasttrack flag.std
    [[ $flat == *"data race on data: A wrote data (event 1) before B read it (event 4)"* ]]
    sed -i 's/ar(flag/ar(data/' flag.std
    tms check --engine=fasttrack flag.std
    [[ $flat == *"before B atomically read it (event 3)"* ]]
    [[ $flat != *"if the other is atomic"* ]]
}
