#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The documents are accurate: commands, their output, code.
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
# meet differs, so it is tried until that is as in the picture.
try_report() {
    for _ in {1..40}; do
        try "$1" || return
        if [ "$(stable "$printed")" = "$(stable "$report")" ]; then
            return 0
        fi
    done
    echo "If the report has changed on purpose, run scripts/report-picture."
    diff -u "$printed" "$report"
}

# walk DOCUMENT HEADING: blocks of `sh` from the heading on hold commands, those that begin with a
# word of the list below. A block of `text` is what the last command printed. The report is in the
# picture, which begins with the two commands. Sets commands, texts and reports.
walk() {
    local block='' walking=false line
    commands=0 texts=0 reports=0
    "$top/scripts/report-picture" --text "$top/docs/images/report.svg" | sed 1,2d >"$report"
    [ -s "$report" ]
    mkdir build
    ln -s "$(realpath "$tmesis")" build/tmesis
    cp -r "$top/examples" examples
    while IFS= read -r line <&9; do
        case $block:$line in
        :"$2") walking=true ;;
        :'```'*)
            block=${line#'```'}
            : >"$shown"
            ;;
        *:'```')
            if [ "$block" = text ]; then
                diff -u "$printed" "$shown"
                texts=$((texts + 1))
            fi
            block=''
            ;;
        sh:*) ! $walking || step "$line" ;;
        text:*) printf '%s\n' "$line" >>"$shown" ;;
        esac
    done 9<"$1"
    echo "$commands commands, $texts texts, $reports reports"
}

step() {
    case $1 in
    cd\ ../..) cd ../.. && left=true ;;
    cd\ build/walk | export\ *) eval "$1" ;;
    *'# exit status 66: the report above')
        try_report "$1"
        reports=$((reports + 1))
        ;;
    build/tmesis\ * | tmesis\ * | sed\ * | cp\ * | mkdir\ *)
        # What comes after the walk are examples for other projects.
        ! ${left-false} || [[ $1 != tmesis\ * ]] || return 0
        try "$1"
        commands=$((commands + 1))
        ;;
    esac
}

@test "the commands of the README do and print what it says" {
    walk "$top/README.md" '## Try it'
    [ "$commands" -ge 6 ]
    [ "$texts" -ge 1 ]
    [ "$reports" -eq 1 ]
}

@test "the commands of getting-started.md do and print what it says" {
    walk "$top/docs/user/getting-started.md" '# Getting started'
    [ "$commands" -ge 30 ]
    [ "$texts" -ge 7 ]
}

# The files that other pages mention are placeholders: no command may be refused.
@test "the commands of the other pages are commands" {
    cp "$top/examples/bank/fixed.c" bank.c
    "$tmesis" cc -g bank.c -o server
    "$tmesis" convert "$top/examples/near-miss.std" run.tms
    for trace in run1.rr run2.rr run3.rr run4.rr; do
        cp "$top/tests/fuzz/corpus/rr/lost-update" "$trace"
    done
    sed -n '/^# bank.spec$/,/^```$/{/^```/d; p}' "$top/docs/user/specifications.md" >bank.spec
    sed -n '/^# server.rules$/,/^```$/{/^```/d; p}' "$top/docs/user/suppressions.md" >server.rules
    [ -s bank.spec ] && [ -s server.rules ]
    PATH=$(dirname "$(realpath "$tmesis")"):$PATH
    tried=0
    for page in user/specifications user/suppressions user/refinement research/evidence research/reproducing; do
        while IFS= read -r line; do
            run bash -c "$line"
            printf '$ %s\n%s\n' "$line" "$output"
            [ "$status" -ne 2 ] && [ "$status" -lt 125 ]
            tried=$((tried + 1))
        done < <(sed -n '/^```sh$/,/^```$/{/^tmesis [a-z]/p}' "$top/docs/$page.md" | grep -v full_trace)
    done
    [ "$tried" -ge 15 ]
}

@test "the code of library.md compiles" {
    sed -n '/^```c$/,/^```$/{/^```/d; p}' "$top/docs/user/library.md" >example.c
    [ -s example.c ]
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top/include" example.c
}
