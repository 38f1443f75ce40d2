#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual pages: a page for each command, with its options as --help has them. The build writes
# the lists (src/man), and refuses text about options that don't exist.
# shellcheck disable=SC2154 # common.bash sets them
load common
build=$(dirname "$tmesis")

commands() {
    "$tmesis" --help | awk '/^Help/ {exit} /^  / {print $1}'
}

# page_of COMMAND: one page is for two commands.
page_of() {
    if [ "$1" = c++ ]; then echo cc; else echo "$1"; fi
}

# options_of KIND: "SPELLING default=… variable=… FIRST WORDS" for each option in the text on standard
# input, which is what --help prints (help) or a manual page as it is installed (page).
options_of() {
    python3 -c 'import re, sys
page = sys.argv[1] == "page"
text = sys.stdin.read().replace("\\&", "")
if page:
    text = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH ", text, re.S | re.M).group(1)
    options = re.findall(r"^(\\fB-[^\n]*)\n\.RS 4\n(.*?)\n\.RE$", text, re.S | re.M)
    facts = r"^Default: \\fB(.*)\\fR\.$", r"^Environment: \\fB(TMESIS_\w+)"
else:
    text = text.split("\nOptions\n")[1].split("\n\n")[0]
    options = re.findall(r"^(?:  |      )((?:-\w, )?--\S+)\s+(.*?)(?=\n  -|\n      --|\Z)", text, re.S | re.M)
    facts = r"default ([^;)]+)[;)]", r"(TMESIS_\w+)"
for spelling, sentence in options:
    sentence = sentence if page else " ".join(sentence.split())
    found = [re.search(fact, sentence, re.M) for fact in facts]
    values = [match.group(1) if match else "none" for match in found]
    first = re.findall(r"\w+", re.sub(r"\\f.", "", sentence).lower())[:4]
    print(re.sub(r"\\f.", "", spelling), f"default={values[0]} variable={values[1]}", *first)' "$1"
}

# same_options COMMAND PAGE: is the list of the page that of --help?
same_options() {
    "$tmesis" "$1" --help=all | options_of help >from-help
    options_of page <"$2" >from-page
    [ "$(wc -l <from-help)" -ge 3 ] && diff from-help from-page
}

# refused TEXT FILE: man-page, with the file in its place, says this sentence about it and fails.
refused() {
    page=$top/docs/man/tmesis-check.1.scd shared=$top/docs/man/options.scd
    case $2 in options.scd) shared=$2 ;; *) page=$2 ;; esac
    run --separate-stderr "$build/man-page" "$page" "$shared"
    echo "$stderr"
    [ "$status" -eq 1 ] && [ "$stderr" = "$2:$1" ]
}

@test "every command has its page, and every page its command" {
    diff <(for command in $(commands); do page_of "$command"; done | sort -u) <(basename -a "$top"/docs/man/tmesis-*.1.scd |
        sed 's/^tmesis-//; s/\.1\.scd$//' | sort)
    for command in $(commands); do
        grep -qF "See *tmesis-$(page_of "$command")*(1)" "$top/docs/man/tmesis.1.scd"
    done
}

@test "options, defaults and variables of the pages are those of --help" {
    for command in $(commands); do
        echo "$command"
        same_options "$command" "$build/tmesis-$(page_of "$command").1"
    done
}

@test "a page without an option, or with another default, is noticed" {
    sed '/^\\fB--first\\fR/,/^\.RE/d' "$build/tmesis-check.1" >without
    run ! same_options check without
    [[ $output == *"< --first "* ]]
    sed 's/^Default: \\fB2v/Default: \\fB1v/' "$build/tmesis-check.1" >other
    run ! same_options check other
    [[ $output == *"default=1v"* ]]
}

@test "text about an option that does not exist is refused" {
    sed 's/^\*--first\*$/*--frist*/' "$top/docs/man/tmesis-check.1.scd" >tmesis-check.1.scd
    line=$(grep -n '^\*--frist\*$' tmesis-check.1.scd | cut -d: -f1)
    refused "$line: tmesis check has no option --frist" tmesis-check.1.scd
    printf '*--baselin*\n\tText.\n' >options.scd
    refused '1: no command has an option --baselin' options.scd
    printf '*--store* (run, gen)\n\tText.\n' >options.scd
    refused '1: tmesis gen has no option --store' options.scd
}

@test "text that belongs to no option is refused" {
    printf 'Text.\n' >options.scd
    refused '1: expected *--name*, or text that begins with a tab' options.scd
    printf '\n\tText.\n' >options.scd
    refused '2: the text does not say which option it is about' options.scd
    printf '*--store* run\n\tText.\n' >options.scd
    refused '1: an option is written *--name* or *--name* (command, command)' options.scd
    printf '# NAME\n' >tmesis-check.1.scd
    refused ' has no section OPTIONS with another after it' tmesis-check.1.scd
}

@test "shared text comes before that of the page, and both before the default" {
    printf '*--repeat* (check)\n\tShared.\n' >options.scd
    printf '# OPTIONS\n\nAt first.\n\n*--repeat*\n\tOwn.\n\n# NEXT\n' >tmesis-check.1.scd
    "$build/man-page" tmesis-check.1.scd options.scd >out
    [ "$(head -n 3 out | tail -n 1)" = "At first." ]
    [ "$(grep -A 5 -F '*--repeat*=_N_' out | tail -n 4 | tr -d '\n')" = \
        $'\tShared.\tOwn.\tDefault: *1*.\tEnvironment: *TMESIS\\_REPEAT*.' ]
}

@test "every page compiles without a word, and points to pages that exist" {
    for page in "$top"/docs/man/*.1.scd; do
        echo "$page"
        whole=$build/$(basename "$page")
        [ -e "$whole" ] || whole=$page
        scdoc <"$whole" >out 2>err
        [ -s out ]
        [ ! -s err ]
        for name in $(grep -oE '\*tmesis[a-z-]*\*\(1\)' "$whole" | tr -d '*()1'); do
            [ -f "$top/docs/man/$name.1.scd" ]
        done
    done
}
