#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis info: what is in a trace.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

@test "counts as text" {
    tms info lost.std
    [ "$status" -eq 0 ]
    diff <(printf '%s\n' "$output") "$here/lost-update.info"
}

@test "counts as JSON agree with the check" {
    for trace in "$golden"/*.std; do
        run --separate-stderr "$tmesis" info --json "$trace"
        [ "$status" -eq 0 ]
        one=$output
        run --separate-stderr "$tmesis" check -q --json "$trace"
        python3 -c 'import json, sys
a, b = (json.loads(text)["trace"] for text in sys.argv[1:])
for key in ("events", "threads", "variables", "locks", "transactions", "unary", "format"):
    assert a[key] == b[key], (key, a, b)' "$one" "$output"
    done
}

@test "JSON: every golden trace keeps to the schema" {
    tms info --json "$golden"/*.std fine.std bad.std
    [ "$status" -eq 2 ]
    valid info
}

@test "text and JSON call everything the same" {
    tms info --json lost.std
    python3 -c 'import json, sys
def keys(value):
    for one in value if isinstance(value, list) else [value] if isinstance(value, dict) else []:
        for key, inner in one.items():
            yield key
            yield from keys(inner)
found = json.loads(sys.argv[1])
found["kinds"] = found["orders"] = {}
for key in sorted(set(keys(found)) - {"schema", "tool", "version", "trace", "path", "name", "kinds",
                                      "orders", "transaction_lengths", "by_thread", "by_lock", "by_label",
                                      "loss", "complaint"}):
    assert key.replace("_", " ") in sys.argv[2], key' "$output" "$("$tmesis" info lost.std)"
}

@test "kinds, nesting, locks held and blocks open" {
    cat >mix.std <<'END'
A|fork(B)|main.c:1
A|begin(f)|main.c:2
A|begin(g)|main.c:3
A|acq(m)|7
A|acq(m)|7
A|rel(m)|8
A|r(x)|9
A|end
B|begin
B|racq(l)
B|w(y)
B|r(x)
END
    tms info --json mix.std
    [ "$status" -eq 0 ]
    query 'd[0]["kinds"]["acq"] == 2 and d[0]["kinds"]["racq"] == 1 and sum(d[0]["kinds"].values()) == 12'
    query '[d[0]["trace"][k] for k in ("threads", "locks", "variables", "shared_variables")] == [2, 2, 2, 1]'
    query '[d[0]["trace"][k] for k in ("open_blocks", "held_locks", "transactions", "unary")] == [2, 2, 2, 1]'
    query 'd[0]["trace"]["locations"] == 6 and d[0]["trace"]["labels"] == 2'
    query 'd[0]["deepest_nesting"] == 2 and d[0]["unlabelled_blocks"] == 1'
    query '[l for l in d[0]["by_lock"] if l["name"] == "m"][0]["reentrant"] == 1'
    query '[(t["unary"], t["deepest_nesting"]) for t in d[0]["by_thread"]] == [(1, 2), (0, 1)]'
    query '{l["name"]: l["blocks"] for l in d[0]["by_label"]} == {"f": 1, "g": 1}'
    query '(d[0]["trace"]["bytes_per_event"], d[0]["trace"]["unary_percent"]) == (11.583, 8.333)'
    query '[(t["name"], t["events"]) for t in d[0]["by_thread"]] == [("A", 8), ("B", 4)]'
}

@test "lengths of transactions" {
    for length in 0 1 2 3 4 5 6 7 8 100; do
        echo 'A|begin'
        for ((i = 0; i < length; i++)); do echo 'A|r(x)'; done
        echo 'A|end'
    done >lengths.std
    tms info --json lengths.std
    query 'd[0]["transaction_lengths"] == {"finished": 10, "min": 0, "median": 4, "p90": 8, "max": 100, "mean": 13.6}'
}

@test "handovers and depth of locks" {
    printf 'A|acq(m)\nA|acq(n)\nA|rel(n)\nA|rel(m)\nB|acq(n)\nB|rel(n)\nB|acq(n)\nB|rel(n)\n' >locks.std
    tms info --json locks.std
    query '{l["name"]: (l["acquires"], l["handovers"], l["most_held"]) for l in d[0]["by_lock"]} == {"m": (1, 0, 1), "n": (3, 1, 2)}'
}

@test "the busiest, or all" {
    for i in {1..12}; do echo "T$i|w(x)"; done >many.std
    tms info many.std
    [[ $output == *"and 2 more (--all)"* ]]
    tms info --all many.std
    [[ $output != *"more (--all)"* && $output == *"  T12"* ]]
}

@test "not well-formed: counted all the same, and said" {
    tms info bad.std
    [ "$status" -eq 2 ]
    [[ $output == *"well formed"*" no"*"bad.std:2: "* ]]
    [[ $stderr == "tmesis: bad.std:2: "* && $(wc -l <<<"$stderr") -eq 1 ]]
    tms info --json bad.std
    [ "$status" -eq 2 ]
    query 'd[0]["trace"]["well_formed"] is False and "bad.std:2" in d[0]["trace"]["complaint"]'
    query 'd[0]["trace"]["events"] == 2'
    [[ $stderr == "tmesis: bad.std:2: "* ]]
}

@test "not readable, and cut off" {
    echo 'A|hop(x)' >syntax.std
    tms info syntax.std fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"syntax.std:1: "* ]]
    [[ $output == *"fine.std"* ]]
    tms convert -q fine.std cut.tms
    head -c -20 cut.tms >part.tms
    tms info part.tms
    [ "$status" -eq 3 ]
    [[ $output == *"well formed "*" as far as it was read"*"the file is cut off within a section; "* ]]
    tms info --json part.tms syntax.std not-there.std
    [ "$status" -eq 2 ]
    valid info
    query 'd[0]["trace"]["well_formed"] is True and "cut off" in d[0]["trace"]["loss"]'
    query '["error" in t for t in d] == [False, True, True]'
    query '"syntax.std:1" in d[1]["error"]["message"] and d[1]["trace"] == {"path": "syntax.std"}'
}

@test "control characters don't reach the terminal" {
    cp fine.std $'\033[31m'
    tms info $'\033[31m'
    [ "$status" -eq 0 ]
    [[ $output == *"�[31m"* && $output != *$'\033'* ]]
}

@test "atomics by kind and by order" {
    cat >atomic.std <<'END'
A|ar(x,acquire)
A|aw(x,release)
B|au(x,acq_rel)
B|fence(seq_cst)
B|au(x,relaxed)
B|r(x)
END
    tms info atomic.std
    [ "$status" -eq 0 ]
    [[ $output =~ "Memory orders" && $output =~ acq_rel\ +1 && $output =~ au\ +2 ]]
    tms info --json atomic.std
    valid info
    python3 -c 'import json, sys
found = json.loads(sys.argv[1])
assert found["orders"] == {"relaxed": 1, "acquire": 1, "release": 1, "acq_rel": 1, "seq_cst": 1}
assert [found["kinds"][kind] for kind in ("ar", "aw", "au", "fence", "r")] == [1, 1, 2, 1, 1]
assert found["trace"]["unary"] == 5' "$output"
    tms info lost.std
    [[ $output != *"Memory orders"* ]]
}
