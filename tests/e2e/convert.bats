#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis convert: between formats, and what is left behind when something goes wrong.
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
    [[ $stderr == *"needs --to"* ]]
}

@test "what can't be chosen" {
    tms convert lost.std lost.txt
    [ "$status" -eq 2 ]
    [[ $stderr == *"the extension names no format"* ]]
    tms convert lost.std lost.rr
    [ "$status" -eq 2 ]
    [[ $stderr == *"can be read, not written"* ]]
    [ ! -e lost.txt ]
    [ ! -e lost.rr ]
}

@test "a hard error leaves neither half a file nor the old one changed" {
    { cat lost.std; echo 'A|hop(x)'; } >syntax.std
    tms convert syntax.std out.tms
    [ "$status" -eq 2 ]
    [[ $stderr == *"syntax.std:15: "* ]]
    [ ! -e out.tms ]
    [ ! -e out.tms.tmp~ ]
    echo precious >out.tms
    tms convert syntax.std out.tms
    [ "$status" -eq 2 ]
    [ "$(cat out.tms)" = precious ]
    tms convert lost.std nowhere/out.tms
    [ "$status" -eq 2 ]
    tms convert lost.std /dev/full --to=std
    [ "$status" -eq 2 ]
}

@test "a lenient conversion writes the rest and says so" {
    { cat lost.std; echo 'A|hop(x)'; } >syntax.std
    tms convert --lenient syntax.std out.std
    [ "$status" -eq 3 ]
    cmp lost.std out.std
}

@test "a trace that was cut off: what was there, and status 3" {
    tms convert -q lost.std whole.std.gz
    head -c -12 whole.std.gz >part.gz
    tms convert part.gz out.std
    [ "$status" -eq 3 ]
    [[ $stderr == *"out.std holds only part of the trace: "* ]]
    [ -e out.std ]
}

@test "onto itself, through a link, to a device" {
    cp lost.std same.std
    tms convert -q same.std same.std
    [ "$status" -eq 0 ]
    cmp lost.std same.std
    ln -s same.std link.std
    tms convert -q fine.std link.std
    [ "$status" -eq 0 ]
    [ -L link.std ]
    cmp fine.std same.std
    tms convert -q --to=tms lost.std /dev/null
    [ "$status" -eq 0 ]
    [ -c /dev/null ]
}
