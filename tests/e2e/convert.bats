#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis convert: between formats, and the files that are left after an error.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

@test "to .tms and back without loss" {
    for trace in "$golden"/*.std; do
        run --separate-stderr "$tmesis" convert -q "$trace" one.tms
        [ "$status" -eq 0 ]
        [ -z "$stderr" ]
        run "$tmesis" convert -q one.tms two.std
        diff "$trace" two.std
    done
}

@test "compressed by extension and by option" {
    for name in out.std.gz out.std.zst; do
        tms convert lost.std "$name"
        [ "$status" -eq 0 ]
        tms convert -q "$name" back.std
        cmp lost.std back.std
    done
    gzip -t out.std.gz
    zstd -qt out.std.zst
    tms convert -q --to=std --compression=gz lost.std plain
    gzip -t plain
}

@test "standard input and output" {
    run bash -c '"$0" convert -q --to=std - - <lost.std | cmp - lost.std' "$tmesis"
    [ "$status" -eq 0 ]
    tms convert lost.std -
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: standard output: nothing says which format to write; "*"; name the format with --to" ]]
    [ -z "$output" ]
}

@test "a reader that goes away is not an error" {
    tms gen -q --events=200k -o big.tms
    run --separate-stderr bash -c 'set -o pipefail; "$0" convert --to=std big.tms - | head -1' "$tmesis"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 1 ]
}

@test "what can't be chosen" {
    tms convert lost.std lost.txt
    [ "$status" -eq 2 ]
    [[ $stderr == *"lost.txt: the extension does not say which format to write; "*"std (.std)"*"; name the format with --to" ]]
    tms convert lost.std lost.rr
    [ "$status" -eq 2 ]
    [[ $stderr == *"can be read only"* ]]
    [ ! -e lost.txt ]
    [ ! -e lost.rr ]
}

@test "a hard error leaves neither half a file nor the old one changed" {
    { cat lost.std; echo 'A|hop(x)'; } >syntax.std
    tms convert syntax.std out.tms
    [ "$status" -eq 2 ]
    [[ $stderr == *"syntax.std:15: "* ]]
    [ "$(echo out.tms*)" = 'out.tms*' ]
    echo precious >out.tms
    tms convert syntax.std out.tms
    [ "$status" -eq 2 ]
    [ "$(cat out.tms)" = precious ]
    tms convert lost.std nowhere/out.tms
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: nowhere/out.tms can't be written: "* ]]
    tms convert lost.std /dev/full --to=std
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: /dev/full: can't be written: "* ]]
}

@test "messages name the file that the user named, and nothing else is left" {
    printf 'A|fork(B)\n' >fork.std
    ln -s other.rt out.rt
    tms convert fork.std out.rt
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: out.rt: event 1, "* ]]
    [ "$(echo ./*~)" = './*~' ]
    mkdir full.tms
    tms convert lost.std full.tms
    [ "$status" -eq 2 ]
    [[ $stderr == "tmesis: full.tms can't be written: Is a directory"* ]]
    [ "$(echo ./*~)" = './*~' ]
}

@test "a file that is replaced keeps its permissions" {
    tms convert -q lost.std out.std
    chmod 640 out.std
    tms convert -q fine.std out.std
    cmp fine.std out.std
    [ "$(stat -c %a out.std)" = 640 ]
}

@test "a lenient conversion writes the rest and says so" {
    { cat lost.std; echo 'A|hop(x)'; } >syntax.std
    tms convert --lenient syntax.std out.std
    [ "$status" -eq 3 ]
    { cat lost.std; echo '# incomplete: 1 line was left out because it could not be read'; } | cmp - out.std
    for _ in {1..12}; do echo 'A|hop(x)'; done >many.std
    tms convert --lenient many.std out.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"12 lines were left out"*"out.std has only part of the trace" ]]
}

@test "a trace that was cut off: what was there, and status 3" {
    tms convert -q lost.std whole.std.gz
    head -c -12 whole.std.gz >part.gz
    tms convert part.gz out.std
    [ "$status" -eq 3 ]
    [[ $stderr == *$'\ntmesis: out.std has only part of the trace' ]]
    [ "$(grep -c 'cut off' <<<"$stderr")" -eq 1 ]
    [ -e out.std ]
}

@test "never onto itself" {
    cp lost.std same.std
    ln -s same.std link.std
    ln same.std hard.tms
    for target in same.std ./same.std link.std hard.tms; do
        tms convert -q same.std $target
        [ "$status" -eq 2 ]
        [ "$stderr" = "tmesis: same.std and $target are the same file; write to another one" ]
        cmp lost.std same.std
    done
}

@test "through a link, to a device" {
    cp lost.std same.std
    ln -s same.std link.std
    tms convert -q fine.std link.std
    [ "$status" -eq 0 ]
    [ -L link.std ]
    cmp fine.std same.std
    tms convert -q --to=tms lost.std /dev/null
    [ "$status" -eq 0 ]
    [ -c /dev/null ]
}

@test "memory orders: there and back, and without them as regiontrack" {
    cat >orders.std <<'END'
1|ar(7,acquire)
2|aw(7,release)
1|aw(7,seq_cst)|f.c:3
END
    tms convert -q orders.std orders.tms
    [ "$status" -eq 0 ]
    tms convert -q orders.tms back.std
    cmp orders.std back.std
    tms convert orders.std orders.rt
    [ "$status" -eq 0 ]
    [[ $flat == *"regiontrack has no atomic accesses; they are written as plain ones"* ]]
    tms convert -q orders.rt plain.std
    printf '1|r(7)\n2|w(7)\n1|w(7)\n' | cmp - plain.std
    printf '1|au(7,relaxed)\n' >update.std
    tms convert update.std update.rt
    [ "$status" -eq 2 ]
    [[ $flat == *"event 1, au(7), can't be written as regiontrack"* ]]
}

@test "an order that the kind does not have gets one sentence" {
    printf 'A|r(x)\nA|ar(x,release)\n' >bad-order.std
    tms convert bad-order.std bad-order.tms
    [ "$status" -eq 2 ]
    [[ $flat == *'bad-order.std:2: expected "ar(variable,ORDER)" with one of the orders relaxed acquire seq_cst, found "ar(x,release)"'* ]]
    [ ! -e bad-order.tms ]
}

# timeline ARGUMENT…: reports/timeline.py.
timeline() {
    python3 "$here/reports/timeline.py" "$@"
}

@test "a timeline has every event, in slices that nest, with arrows at forks and joins" {
    for trace in "$golden"/*.std; do
        "$tmesis" convert -q "$trace" out.perfetto.json
        timeline trace "$trace" out.perfetto.json
    done
    printf '%s\n' 'M|fork(A)' 'A|begin(f)' 'A|racq(m)' 'B|racq(m)' 'A|rrel(m)' 'B|rrel(m)' 'A|end(f)' 'M|join(A)' >fork.std
    tms convert -q --to=perfetto fork.std -
    jq -e '[.traceEvents[] | select(.ph == "s" or .ph == "f") | [.name, .tid, .ts]] ==
        [["fork", 1, 1], ["fork", 2, 2], ["join", 2, 7], ["join", 1, 8]]' <<<"$output"
    jq -e '[.traceEvents[] | select(.ph == "b" or .ph == "e") | [.ph, .ts]] ==
        [["b", 3], ["b", 4], ["e", 6], ["e", 7]]' <<<"$output"
}

@test "a timeline of a trace that is not well-formed is balanced all the same" {
    printf '%s\n' 'A|end' 'A|begin' 'A|acq(m)' 'B|rel(m)' 'B|rel(m)' 'B|acq(m)' 'A|racq(s)' 'A|rrel(t)' 'C|join(C)' \
        'C|fork(D)' >odd.std
    "$tmesis" convert -q odd.std odd.perfetto.json
    timeline slices odd.perfetto.json
    printf 'A"\\x5c|begin(<b>\\x01\xff&")|a"b\nA"\\x5c|w(\xc3)\n' >bytes.std
    "$tmesis" convert -q bytes.std bytes.perfetto.json
    timeline slices bytes.perfetto.json
    : >empty.std
    "$tmesis" convert -q empty.std empty.perfetto.json
    timeline slices empty.perfetto.json
    printf 'A|begin(f)\nA|w(x)\n# incomplete: no room\n' >cut.std
    tms convert -q cut.std cut.perfetto.json
    [ "$status" -eq 3 ]
    timeline slices cut.perfetto.json
    jq -e '.otherData.incomplete | contains("no room")' cut.perfetto.json
}

@test "a timeline without accesses keeps the numbers of the other events" {
    tms convert -q --no-accesses --to=perfetto lost.std -
    jq -e '[.traceEvents[] | select(.cat == "access")] == []' <<<"$output"
    jq -e '[.traceEvents[] | select(.pid == 1 and .args.event) | .args.event] == [1, 2, 4, 5, 6, 9, 11, 13]' <<<"$output"
    tms convert --no-accesses lost.std out.tms
    [ "$status" -eq 2 ]
    [[ $stderr == *"only perfetto"* ]]
    tms convert --from=perfetto lost.std out.tms
    [ "$status" -eq 2 ]
    [ ! -e out.tms ]
}

@test "a timeline takes memory by its names, not by its length" {
    for events in 100k 1M; do
        "$tmesis" gen -q --events=$events -o "$events.tms"
        python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
            "$tmesis" convert -q --to=perfetto "$events.tms" - >"$events.kib"
    done
    [ "$(<1M.kib)" -lt $((2 * $(<100k.kib))) ]
}
