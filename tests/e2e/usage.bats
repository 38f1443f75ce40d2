#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command line: help, options, the environment, and messages about mistakes.
# shellcheck disable=SC2154,SC2016 # common.bash sets them; an inner shell expands them
load common

@test "version" {
    tms --version
    [ "$status" -eq 0 ]
    [[ $output =~ ^tmesis\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "help lists the commands, and every command has its own" {
    tms --help
    [ "$status" -eq 0 ]
    for command in run record check refine info convert gen engines cc c++ doctor completion; do
        [[ $output == *$'\n'"  $command "* ]]
        run --separate-stderr "$tmesis" "$command" --help
        [ "$status" -eq 0 ]
        [[ $output == "Usage: tmesis $command "* ]]
        # The wrapper's arguments are the compiler's: it has no other options of ours.
        case $command in
        cc | c++) [[ $output == *--tmesis-inline*TMESIS_INLINE* && $output != *--quiet* ]] ;;
        *) [[ $output == *--quiet*--help* ]] ;;
        esac
        same=$output
        run --separate-stderr "$tmesis" help "$command"
        [ "$output" = "$same" ]
        tms --help
    done
}

@test "benchmarks have help, and refuse what they don't know, before they start" {
    for script in run engines overhead predict scaling inline/run; do
        run --separate-stderr timeout 20 "$top/bench/$script" --help
        [ "$status" -eq 0 ]
        [[ $output == "usage: "*TMESIS=FILE* ]]
        run --separate-stderr timeout 20 "$top/bench/$script" --hlep
        [ "$status" -eq 2 ]
        [ -z "$output" ]
    done
}

@test "help fits a terminal" {
    for command in run record check hunt refine info convert gen engines doctor; do
        run "$tmesis" "$command" --help=all
        [[ $output == *--quiet*TMESIS_QUIET*--color*--no-progress*--help* ]]
        for line in "${lines[@]}"; do
            [ "${#line}" -le 84 ]
        done
    done
}

@test "help is one screen, and help=all has every option" {
    for command in run record check hunt; do
        COLUMNS=80 run --keep-empty-lines "$tmesis" "$command" --help
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -le 40 ]
        for line in "${lines[@]}"; do
            [ "${#line}" -le 80 ]
        done
        [[ $output == *"Exit status: "*"--help=all"* && $output != *--split* ]]
        run "$tmesis" "$command" --help=all
        [[ $output == *--split* ]]
    done
    tms run --help=most
    [ "$status" -eq 125 ]
    [ "$stderr" = 'tmesis: --help takes only all, not "most"' ]
}

@test "no arguments: shows the help, and is an error" {
    tms
    [ "$status" -eq 2 ]
    [[ $stderr == *"Usage: tmesis COMMAND"* ]]
}

@test "an unknown command gets a suggestion" {
    tms engine lost.std
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: there is no command "engine"; did you mean engines?' ]
    tms zebra
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: there is no command "zebra"; tmesis --help lists all commands' ]
    tms version
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: there is no command "version"; did you mean --version?' ]
}

@test "an unknown option gets a suggestion" {
    tms check --engin=frontier lost.std
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: check has no option --engin; did you mean --engine?' ]
    tms check --no-balme lost.std
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: check has no option --no-balme; did you mean --no-blame?' ]
    tms check --no-color lost.std
    [ "$status" -eq 2 ]
    [ "$stderr" = 'tmesis: check has no option --no-color; did you mean --color=never?' ]
    tms check -z lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"no option -z"* ]]
}

@test "wrong values are refused, and the message lists the accepted ones" {
    tms check --engine=frontir lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'--engine takes one or more of all, frontier, reference, '*', not "frontir"; did you mean frontier?' ]]
    tms check --max-violations=many lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'a whole number such as 250, 10k, 3M or 2G, not "many"' ]]
    tms check --max-violations=99999999999G lost.std
    [ "$status" -eq 2 ]
    tms check --color=pink lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'one of auto, always, never, not "pink"'* ]]
    tms convert --level=23 lost.std lost.tms
    [ "$status" -eq 2 ]
    [[ $stderr == *"from 1 to 22, not 23"* ]]
    tms check --first=yes lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"--first takes no value"* ]]
    tms check lost.std --engine
    [ "$status" -eq 2 ]
    [[ $stderr == *"--engine needs a value"* ]]
    tms check --split=none,wait lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'--split takes none by itself, not together with other words as in "none,wait"' ]]
    for list in all,frontier frontier,all; do
        tms check --engine=$list lost.std
        [ "$status" -eq 2 ]
        [[ $stderr == *"--engine takes all by itself, not together with other words as in \"$list\"" ]]
    done
}

@test "operands are counted" {
    tms check
    [ "$status" -eq 2 ]
    [[ $stderr == *"check needs TRACE"* ]]
    tms convert lost.std
    [ "$status" -eq 2 ]
    tms convert a b c
    [ "$status" -eq 2 ]
    tms engines please
    [ "$status" -eq 2 ]
}

@test "a value is the next word or follows the equals sign, the last one counts" {
    tms check -q --json --engine reference lost.std
    query 'd[0]["results"][0]["engine"] == "reference"'
    tms check -q --json --engine=reference lost.std
    query 'd[0]["results"][0]["engine"] == "reference"'
    tms check -q --json --engine=frontier --engine=reference lost.std
    query '[r["engine"] for r in d[0]["results"]] == ["reference"]'
    tms check -q --json --no-blame --blame lost.std
    query 'd[0]["results"][0]["violations"][0]["not_atomic"] is True'
}

@test "options may follow operands, and end at two dashes" {
    tms check lost.std -q
    [ "$status" -eq 1 ]
    cp fine.std ./-q
    tms check -q -- -q
    [ "$status" -eq 0 ]
    [[ $stderr == "-q: serializable"* ]]
}

@test "the environment sets options, and the command line overrides it" {
    TMESIS_ENGINE=reference tms check -q --json lost.std
    query 'd[0]["results"][0]["engine"] == "reference"'
    TMESIS_ENGINE=reference tms check -q --json --engine=frontier lost.std
    query 'd[0]["results"][0]["engine"] == "frontier"'
    TMESIS_BLAME=0 tms check -q --json lost.std
    query 'd[0]["results"][0]["violations"][0]["not_atomic"] is None'
    TMESIS_ENGINE=zebra tms check lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"TMESIS_ENGINE takes one or more of"* ]]
    TMESIS_BLAME=perhaps tms check lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'TMESIS_BLAME takes yes or no, not "perhaps"'* ]]
}

@test "output that can't be written is an error" {
    run bash -c '"$1" engines >/dev/full' - "$tmesis"
    [ "$status" -eq 2 ]
    [[ $output == "tmesis: standard output could not be written: No space left on device" ]]
    run bash -c '"$1" check -q --json lost.std >/dev/full' - "$tmesis"
    [ "$status" -eq 2 ]
    tms check -q --json=/dev/full lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"/dev/full could not be written"* ]]
    tms check -q --json=nowhere/out.json lost.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"nowhere/out.json can't be written"* ]]
}

@test "a reader that goes away is not an error" {
    traces=()
    for _ in {1..300}; do traces+=(lost.std); done
    run bash -c 'set -o pipefail; "$0" check -q --json "$@" 2>/dev/null | head -c 1' \
        "$tmesis" "${traces[@]}"
    [ "$status" -eq 1 ]
    run bash -c 'set -o pipefail; { sleep 0.2; "$0" engines; } | true' "$tmesis"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "engines: the list" {
    tms engines
    [ "$status" -eq 0 ]
    [[ $output == *frontier*guarantee*reference*guarantee* ]]
    tms engines --json
    query '[e["name"] for e in d[0]["engines"]][:2] == ["frontier", "reference"]'
    query 'set(e["name"] for e in d[0]["engines"]) >= {"velodrome", "aerodrome-basic", "aerodrome", "regiontrack", "doublechecker", "sidetrack", "fasttrack", "goodlock", "atomizer", "reduction", "blocks"}'
    query 'all(e["paper"] and e["guarantee"] and e["time"] and e["memory"] and e["reports"] for e in d[0]["engines"])'
    query '{e["answers"][0] for e in d[0]["engines"]} == {"violation", "affected", "predicted", "potential", "race"}'
    tms engines -q
    [[ $output == $'frontier\nreference\n'* ]]
}
