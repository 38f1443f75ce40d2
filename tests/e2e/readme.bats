#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the documents say is so: commands, what they print, code.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; backquotes are Markdown's
load common

# The walk changes its directory, so these are absolute.
printed=$BATS_TEST_TMPDIR/printed shown=$BATS_TEST_TMPDIR/shown report=$BATS_TEST_TMPDIR/report

# try LINE: runs it as pasted. It ends with the status that its comment states, or with 0.
try() {
    local wanted=0
    [[ ! $1 =~ '# exit status '([0-9]+) ]] || wanted=${BASH_REMATCH[1]}
    run bash -c "$1"
    printf '$ %s\n%s\n' "$1" "$output"
    printf '%s\n' "$output" >"$printed"
    [ "$status" -eq "$wanted" ]
}

# What stays the same in a report from run to run: not event numbers and counts, not which thread
# was the one and which the other, and so not where lines are broken.
stable() {
    tr -s ' \n' ' ' <"$1" | sed -E 's/(^|[ (=])[0-9]+(\.[0-9]+)?/\1N/g; s/\bT[0-9]+/T/g'
}

# try_report LINE: every run ends with the status that the comment states. Where the two threads
# meet differs, so it is tried until that is as in the README.
try_report() {
    for _ in {1..40}; do
        try "$1" || return
        if [ "$(stable "$printed")" = "$(stable "$report")" ]; then
            return 0
        fi
    done
    diff -u "$printed" "$report"
}

# Blocks of `sh` from "Five minutes" on hold commands, those that begin with a word of the list
# below. A block of `text` is what the last command printed; the block of `report` is what the
# command prints that points to it.
@test "the commands of the README do and print what it says" {
    mkdir build
    ln -s "$(realpath "$tmesis")" build/tmesis
    cp -r "$top/examples" examples
    block='' walking=false commands=0 texts=0 reports=0
    while IFS= read -r line <&9; do
        case $block:$line in
        :'## Five minutes') walking=true ;;
        :'```'*)
            block=${line#'```'}
            : >"$shown"
            ;;
        *:'```')
            case $block in
            text)
                diff -u "$printed" "$shown"
                texts=$((texts + 1))
                ;;
            report) mv "$shown" "$report" ;;
            esac
            block=''
            ;;
        sh:cd\ * | sh:export\ *) eval "$line" ;;
        sh:*'# exit status 66: the report above')
            try_report "$line"
            reports=$((reports + 1))
            ;;
        sh:build/tmesis\ * | sh:tmesis\ * | sh:sed\ * | sh:cp\ * | sh:mkdir\ *)
            if $walking; then
                try "$line"
                commands=$((commands + 1))
            fi
            ;;
        text:* | report:*) printf '%s\n' "$line" >>"$shown" ;;
        esac
    done 9<"$top/README.md"
    echo "$commands commands, $texts texts, $reports reports"
    [ "$commands" -ge 18 ]
    [ "$texts" -ge 6 ]
    [ "$reports" -eq 1 ]
}

@test "the code of the README compiles" {
    sed -n '/^```c$/,/^```$/{/^```/d; p}' "$top/README.md" >example.c
    [ -s example.c ]
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top/include" example.c
}
