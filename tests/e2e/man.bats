#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual pages and --help say the same: commands, options, values, defaults, variables.
# shellcheck disable=SC2154 # common.bash sets them
load common

commands() {
    "$tmesis" --help | awk '/^Help/ {exit} /^  / {print $1}'
}

# page_of COMMAND: one page is for two commands.
page_of() {
    if [ "$1" = c++ ]; then echo cc; else echo "$1"; fi
}

# options_of KIND: "SPELLING default=… variable=…" for each option in the text on standard input,
# which is what --help prints (help) or the source of a manual page (page).
options_of() {
    python3 -c 'import re, sys
start, default = {
    "help": (r"^(?:  -\w, |      )--", r"default ([^;)]+)[;)]"),
    "page": (r"^\*-", r"Default: \*([^*]+)\*"),
}[sys.argv[1]]
text = sys.stdin.read()
if sys.argv[1] == "page":
    text = re.search(r"^# OPTIONS\n(.*?)^# ", text, re.S | re.M).group(1)
else:
    text = text.split("\nOptions\n")[1].split("\n\n")[0]
for option in re.split("(?=" + start + ")", text, flags=re.M)[1:]:
    spelling = re.match(r"(?:-\w, )?--\S+", re.sub("[*_]", "", option.lstrip(" *"))).group(0)
    flat = " ".join(option.split())
    found = [re.search(pattern, flat) for pattern in (default, r"(TMESIS_\w+)")]
    values = [match.group(1) if match else "none" for match in found]
    print(spelling, "default=" + values[0], "variable=" + values[1])' "$1"
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
        all=--help=all
        case $command in cc | c++) all=--help ;; esac
        "$tmesis" "$command" "$all" | options_of help | sort >from-help
        options_of page <"$top/docs/man/tmesis-$(page_of "$command").1.scd" | sort >from-page
        [ "$(wc -l <from-help)" -ge 2 ]
        diff from-help from-page
    done
}

@test "every page compiles without a word, and points to pages that exist" {
    for page in "$top"/docs/man/*.scd; do
        echo "$page"
        scdoc <"$page" >out 2>err
        [ -s out ]
        [ ! -s err ]
        for name in $(grep -oE '\*tmesis[a-z-]*\*\(1\)' "$page" | tr -d '*()1'); do
            [ -f "$top/docs/man/$name.1.scd" ]
        done
    done
}
