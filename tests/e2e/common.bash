# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # bats and the tests use and set them
# Shared by the tests of the command line. The command is $TMESIS, or the one in build/.
bats_require_minimum_version 1.5.0

here=$BATS_TEST_DIRNAME
top=$here/../..
golden=$top/tests/golden
tmesis=${TMESIS:-$top/build/tmesis}

setup() {
    unset "${!TMESIS_@}" NO_COLOR
    cd "$BATS_TEST_TMPDIR" || return
    cp "$golden/lost-update-locked.std" lost.std
    cp "$golden/neighbours-ok.std" fine.std
    cp "$golden/aerodrome-rho3.std" blameless.std
    printf 'A|acq(m)|1\nB|acq(m)|2\n' >bad.std
    printf 'A|r(x)\nB|w(x)\n' >unmarked.std
}

# tms ARGUMENT…: runs the command; $status, $output (standard output), $stderr, and in $flat the
# latter without its line breaks.
tms() {
    run --separate-stderr "$tmesis" "$@"
    flat=$(tr -s ' \n' ' ' <<<"$stderr")
    printf 'status %s\n--- out\n%s\n--- err\n%s\n' "$status" "$output" "$stderr"
}

# query PROGRAM: a Python expression over `d`, the list of JSON objects on standard output.
query() {
    python3 -c 'import json, sys
d = [json.loads(line) for line in sys.stdin if line.strip()]
result = eval(sys.argv[1])
print(result)
sys.exit(0 if result is True else 1)' "$1" <<<"$output"
}

# valid SCHEMA: every line of standard output conforms to the schema in docs/schema.
valid() {
    python3 -c 'import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
lines = [line for line in sys.stdin if line.strip()]
assert lines, "no JSON at all"
for line in lines:
    jsonschema.Draft7Validator(schema).validate(json.loads(line))' \
        "$top/docs/schema/$1.schema.json" <<<"$output"
}

# observing: the engines that judge the trace as it is, with commas between.
observing() {
    "$tmesis" engines --json | python3 -c 'import json, sys
print(",".join(e["name"] for e in json.load(sys.stdin)["engines"] if e["answers"][0] == "violation"))'
}

# wait_for TEXT FILE [TIMES]: until the file has so many lines with it.
wait_for() {
    for _ in {1..600}; do
        (($(grep -c -- "$1" "$2") >= ${3:-1})) && return
        sleep 0.05
    done
    cat "$2"
    false
}
