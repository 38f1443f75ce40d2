#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the documents say is so: commands, what they print, code, links.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; backquotes are Markdown's
load common

# try LINE: runs it as pasted. It ends with the status that its comment states, or with 0.
try() {
    local wanted=0
    [[ ! $1 =~ '# exit status '([0-9]) ]] || wanted=${BASH_REMATCH[1]}
    run bash -c "$1"
    printf '$ %s\n%s\n' "$1" "$output"
    printf '%s\n' "$output" >printed
    [ "$status" -eq "$wanted" ]
}

# In blocks of `sh`, the lines with build/tmesis or sed are commands. A block of `text` is what the
# last command printed.
@test "the commands of the README do and print what it says" {
    mkdir build
    ln -s "$(realpath "$tmesis")" build/tmesis
    cp -r "$top/examples" examples
    block='' commands=0 texts=0
    while IFS= read -r line <&9; do
        case $block:$line in
        :'```'*)
            block=${line#'```'}
            : >shown
            ;;
        *:'```')
            if [ "$block" = text ]; then
                diff -u printed shown
                texts=$((texts + 1))
            fi
            block=''
            ;;
        sh:build/tmesis\ * | sh:sed\ *)
            try "$line"
            commands=$((commands + 1))
            ;;
        text:*) printf '%s\n' "$line" >>shown ;;
        esac
    done 9<"$top/README.md"
    echo "$commands commands, $texts texts"
    [ "$commands" -ge 9 ]
    [ "$texts" -ge 6 ]
}

@test "the code of the README compiles" {
    sed -n '/^```c$/,/^```$/{/^```/d; p}' "$top/README.md" >example.c
    [ -s example.c ]
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top/include" example.c
}

@test "links in the documents lead somewhere" {
    found=0
    for document in "$top"/*.md "$top"/docs/*.md "$top"/bench/*.md; do
        while read -r link; do
            echo "$document: $link"
            [ -e "$(dirname "$document")/${link%%#*}" ]
            found=$((found + 1))
        done < <(grep -oP '\]\(\K(?!https?:|#)[^)]+' "$document")
    done
    [ "$found" -gt 10 ]
}
