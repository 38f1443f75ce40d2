#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Observed, predicted and potential findings are never mixed up.
# shellcheck disable=SC2154 # common.bash sets them
load common

# Both deposits release the lock halfway, but ran one after the other; then the same again with
# a variable that a thread reads without the lock, and with locks taken in opposite orders.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    deposit() {
        printf '%s\n' "$1|begin(deposit)|bank.c:40" "$1|acq(m)|bank.c:10" "$1|r(x)|bank.c:11" \
            "$1|rel(m)|bank.c:12" "$1|acq(m)|bank.c:20" "$1|w(x)|bank.c:21" \
            "$1|rel(m)|bank.c:22" "$1|end(deposit)|bank.c:50"
    }
    { deposit A; deposit B; } >whole.std
    { deposit A; echo 'C|r(x)|audit.c:7'; deposit B; } >race.std
    { deposit A; deposit B
        printf '%s\n' 'A|acq(p)' 'A|acq(q)' 'A|rel(q)' 'A|rel(p)' 'B|acq(q)' 'B|acq(p)' 'B|rel(p)' \
            'B|rel(q)'
    } >order.std
}

# evidence: the evidence words of the findings in the report, in their order.
evidence() {
    grep -oE '^AV-[0-9a-f]+  [a-z]+:' <<<"$stderr" | sed 's/.* //' | tr -d '\n'
}

trace() {
    echo "$BATS_FILE_TMPDIR/$1.std"
}

@test "a run in which nothing went wrong: what could have is predicted" {
    tms check --engine=frontier,sidetrack --json "$(trace whole)"
    [ "$status" -eq 0 ]
    valid result
    [[ $stderr == *"whole.std: predicted: no atomic block was cut apart in this run, but one can be cut apart with another timing."* ]]
    [[ $flat == *"Predicted: did not happen in this run, but can with another timing. AV-"* ]]
    [ "$(evidence)" = predicted: ]
    [[ $flat == *"What can happen, in this order (not the order of this run; event numbers are those of the trace):"* ]]
    [[ $flat == *"Holding m across both acquires would prevent it."* ]]
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "sidetrack"]'
    query '[r["verdict"] for r in d[0]["results"]] == ["serializable", "predicted"]'
    query '{v["evidence"] for v in d[0]["results"][1]["violations"]} == {"predicted"}'
    query '{v["kind"] for v in d[0]["results"][1]["violations"]} <= {"before", "in", "after"}'
}

@test "the schedule has its events in their order, roles and places" {
    tms check -q --json "$(trace whole)"
    query 'any([t["role"] for t in v["schedule"]] == ["first acquire", "culprit", "second acquire"] for v in d[0]["results"][1]["violations"])'
    query 'all(t["kind"] == "acq" and t["on"] == "m" and t["at"]["file"] == "bank.c" for v in d[0]["results"][1]["violations"] for t in v["schedule"])'
    query 'all(v["schedule"][0]["thread"] == v["schedule"][2]["thread"] != v["schedule"][1]["thread"] for v in d[0]["results"][1]["violations"])'
    query 'all([t["event"] for t in v["schedule"]] != sorted(t["event"] for t in v["schedule"]) for v in d[0]["results"][1]["violations"])'
    tms check --engine=frontier,sidetrack "$(trace whole)"
    # The rows are in that order as well: the numbers are not.
    events=$(sed -n '/^    event /,/^$/p' <<<"$stderr" | tr -d '▶' | awk '{print $1}' | tr '\n' ' ')
    [[ $events == "event 1 2 9 10 5 "* ]]
    [[ $stderr == *" acq(m) a→  first acquire"*" →a acq(m) b→  culprit"*" →b acq(m)  second acquire"* ]]
}

@test "a finding of several engines is one entry with all the evidence" {
    tms check --engine=frontier,sidetrack,blocks,reduction --escape=off --json lost.std
    [ "$(evidence)" = observed: ]
    [[ $flat == *"Evidence: observed by frontier; predicted by sidetrack (in); potential by blocks (pattern), reduction."* ]]
    query '[len(r["violations"]) for r in d[0]["results"]] == [1, 1, 1, 1]'
    query 'all(r["violations"][0]["same_as"] == d[0]["results"][0]["violations"][0]["id"] for r in d[0]["results"][1:])'
    query '"same_as" not in d[0]["results"][0]["violations"][0]'
    # Whichever comes first: the stronger evidence wins.
    tms check --engine=reduction,blocks,sidetrack,frontier --escape=off lost.std
    [ "$(evidence)" = observed: ]
    [[ $stderr == *"lost.std: violation: "* ]]
    [[ $flat == *"Evidence: observed by frontier; predicted by sidetrack (in); potential by reduction, blocks (pattern)."* ]]
}

@test "findings on the same lock are merged, whichever thread came in between" {
    printf '%s\n' 'A|begin(deposit)' 'A|acq(m)' 'A|rel(m)' 'B|begin(audit)' 'B|acq(m)' 'B|rel(m)' \
        'B|end' 'A|acq(m)' 'A|rel(m)' 'A|end' >seen.std
    printf '%s\n' 'A|begin(deposit)' 'A|acq(m)' 'A|rel(m)' 'A|acq(m)' 'A|rel(m)' 'A|end' \
        'C|begin(clear)' 'C|acq(m)' 'C|rel(m)' 'C|end' >>seen.std
    tms check --engine=frontier,sidetrack --json seen.std
    [ "$(evidence)" = observed: ]
    query '{v["cycle"][1]["from"]["label"] for v in d[0]["results"][1]["violations"]} >= {"clear"}'
    query 'all("same_as" in v for v in d[0]["results"][1]["violations"])'
    tms check --engine=frontier,sidetrack --all -q --json seen.std
    query 'all("same_as" in v for v in d[0]["results"][1]["violations"])'
}

@test "another block, or another lock, is another finding" {
    sed 's/deposit/audit/' "$(trace whole)" >other.std
    sed 's/^A/C/; s/^B/D/; s/(m)/(n)/; s/(x)/(y)/' "$(trace whole)" >third.std
    cat "$golden/lost-update-locked.std" other.std >both.std
    tms check -q --engine=frontier,sidetrack --json both.std
    query '[len(r["violations"]) > 0 for r in d[0]["results"]] == [True, True]'
    query 'all(("same_as" in v) == (v["transaction"]["label"] == "deposit") for v in d[0]["results"][1]["violations"] if "same_as" not in v or v["same_as"] == d[0]["results"][0]["violations"][0]["id"])'
    tms check --engine=frontier,sidetrack both.std
    [[ $(evidence) == observed:predicted:* ]]
    [[ $stderr == *"; "*" predicted."* ]]
    cat "$(trace whole)" third.std >two.std
    tms check --engine=frontier,sidetrack --json two.std
    query 'len({v["schedule"][0]["on"] for v in d[0]["results"][1]["violations"] if "same_as" not in v}) == 2'
}

@test "other threads that can come in between are named in the same entry" {
    {
        sed -n 1,8p "$(trace whole)"
        printf '%s\n' 'B|begin(audit)' 'B|acq(m)' 'B|rel(m)' 'B|end'
        sed -n 1,8p "$(trace whole)"
        printf '%s\n' 'C|begin(clear)' 'C|acq(m)' 'C|rel(m)' 'C|end'
    } >three.std
    tms check --engine=frontier,sidetrack three.std
    [ "$(evidence)" = predicted: ]
    [[ $flat == *"A's deposit can be cut apart by B's audit, "*" It can also be cut apart by clear. "*"Evidence: predicted by sidetrack ("*"after)."* ]]
}

@test "--all keeps apart what one engine found, and still puts engines together" {
    cat "$(trace whole)" "$(trace whole)" >twice.std
    tms check --engine=frontier,sidetrack twice.std
    [ "$(evidence)" = predicted: ]
    tms check --engine=frontier,sidetrack --all --json twice.std
    [[ $(evidence) == predicted:predicted:* ]]
    query 'len(d[0]["results"][1]["violations"]) > 2 and not any("same_as" in v for v in d[0]["results"][1]["violations"])'
    tms check --engine=frontier,sidetrack --all lost.std
    [ "$(evidence)" = observed: ]
}

@test "the strongest evidence comes first, and each finding names its evidence" {
    tms check --engine=goodlock,fasttrack,sidetrack,frontier "$(trace race)" "$(trace order)" lost.std
    [ "$status" -eq 1 ]
    [ "$(evidence)" = predicted:predicted:predicted:predicted:potential:observed: ]
    tms check --engine=goodlock,sidetrack "$(trace order)"
    [ "$(evidence)" = predicted:potential: ]
    [[ $flat == *"Potential: the locks held do not rule this out. It may be a false alarm. AV-"*"potential: deadlock: "*" may wait for each other forever."* ]]
    [[ $flat == *" holds p (since event 17), and "*" wants it (event 22)."* ]]
}

@test "assumptions of sidetrack, and whether they were checked" {
    tms check --engine=frontier,sidetrack --json "$(trace whole)"
    [[ $flat == *"Assumed by sidetrack: A predicted schedule can happen if the program is free of data races and deadlocks. Races were not checked; add fasttrack to --engine. Deadlocks were not checked; add goodlock to --engine."* ]]
    [[ $stderr == *"tmesis check --engine=frontier,sidetrack,fasttrack,goodlock "*"whole.std "*"# check what the predictions assume"* ]]
    query '"not checked" in d[0]["results"][1]["assumption"] and "assumption" not in d[0]["results"][0]'
    tms check --engine=frontier,sidetrack,fasttrack,goodlock "$(trace whole)"
    [[ $flat == *"Races: fasttrack found none in this run. Deadlocks: goodlock found none in this run."* ]]
    [[ $flat != *"check what the predictions assume"* ]]
    [[ $flat != *"But: fasttrack"* ]]
    tms check --engine=frontier,sidetrack,fasttrack,goodlock "$(trace race)"
    [[ $flat == *"Races: fasttrack found 2, the first at event 9, so this may not hold."* ]]
    [[ $flat == *"But: fasttrack found a data race in this run, first at event 9."* ]]
    tms check --engine=frontier,sidetrack,goodlock "$(trace order)"
    [[ $flat == *"Deadlocks: goodlock found 1, so this may not hold."* ]]
    # Without a prediction there are no assumptions.
    tms check --engine=frontier,sidetrack --json fine.std
    query '"assumption" not in d[0]["results"][1]'
}

@test "blocks looks for deadlocks itself, and the report suggests no other engine for them" {
    tms check --engine=blocks --escape=off --json lost.std
    [[ $flat == *": potential: "* ]]
    [[ $flat != *"Assumed by"* ]]
    query '"assumption" not in d[0]["results"][0]'
    tms check --engine=blocks --json "$(trace order)"
    query '[v["kind"] for v in d[0]["results"][0]["violations"]].count("deadlock") == 1'
}

@test "no reads and writes, no races" {
    grep -v '|[rw](' "$(trace whole)" >locks.std
    tms check --engine=sidetrack,fasttrack locks.std
    [[ $flat == *"Races were not checked, because no reads and writes were recorded."* ]]
}

@test "a schedule that may deadlock says so" {
    tms check --engine=frontier,sidetrack --json "$golden/sidetrack-fig8-bottom.std"
    [ "$status" -eq 0 ]
    [[ $flat == *"But: "*"deadlock instead."* ]]
    query '"deadlock" in d[0]["results"][1]["violations"][0]["caveat"]'
}

@test "exit status: only what was observed, unless --fail-on says otherwise" {
    tms check -q "$(trace whole)"
    [ "$status" -eq 0 ]
    tms check -q --fail-on=observed "$(trace whole)"
    [ "$status" -eq 0 ]
    tms check -q --fail-on=predicted "$(trace whole)"
    [ "$status" -eq 1 ]
    TMESIS_FAIL_ON=potential tms check -q "$(trace whole)"
    [ "$status" -eq 1 ]
    tms check -q --engine=frontier --fail-on=potential "$(trace whole)"
    [ "$status" -eq 0 ]
    tms check -q --engine=goodlock --fail-on=predicted "$(trace order)"
    [ "$status" -eq 0 ]
    tms check -q --engine=goodlock --fail-on potential "$(trace order)"
    [ "$status" -eq 1 ]
    tms check -q --engine=fasttrack "$(trace race)"
    [ "$status" -eq 0 ]
    tms check -q --engine=fasttrack --fail-on=predicted "$(trace race)"
    [ "$status" -eq 1 ]
    tms check -q --fail-on=predicted fine.std
    [ "$status" -eq 0 ]
    tms check --fail-on=everything fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *"--fail-on takes one or more of note, warning, error, observed, predicted, potential, race, not \"everything\""* ]]
}

@test "exit status: 3 if an engine could not check the whole trace" {
    tms gen -q --events 12k --violation=none -o t.std
    tms check -q --engine=reference,sidetrack t.std
    [ "$status" -eq 3 ]
    printf 'A|acq(m)\nB|acq(m)\n' >bad.std
    tms check -q --lenient --engine=sidetrack bad.std
    [ "$status" -eq 3 ]
}

@test "--potential adds engines and shows what they found" {
    tms check --escape=off --potential --json lost.std
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "judge", "sidetrack", "blocks", "reduction", "goodlock"]'
    tms check --potential --engine=frontier,sidetrack --json "$(trace order)"
    [ "$status" -eq 0 ]
    [[ $(evidence) == predicted:*potential: ]]
    query '[r["verdict"] for r in d[0]["results"] if r["engine"] == "goodlock"] == ["potential"]'
    tms check --potential --engine=frontier,goodlock --json "$(trace order)"
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "goodlock", "blocks", "reduction"]'
    TMESIS_POTENTIAL=yes tms check --json -q fine.std
    query 'len(d[0]["results"]) == 6'
    tms check --potential --engine="frontier$(printf ',sidetrack%.0s' {1..60})" --json -q fine.std
    query '[r["engine"] for r in d[0]["results"]] == ["frontier", "sidetrack", "blocks", "reduction", "goodlock"]'
    tms check --potential --engine=all --json -q fine.std
    query 'len(d[0]["results"]) == len({r["engine"] for r in d[0]["results"]})'
}

@test "the first violation ends the run, predictions don't" {
    cat "$(trace whole)" "$golden/lost-update-locked.std" "$(trace whole)" >long.std
    tms check -q --first --json long.std
    [ "$status" -eq 1 ]
    query 'd[0]["trace"]["events"] == 27'
    query 'd[0]["results"][0]["first_violation_event"] == 27'
    query 'all(r["loss"] == "stopped at the first violation, as asked" for r in d[0]["results"])'
    # One that is not predicted, since it involves no lock.
    { printf '%s\n' 'A|begin(f)' 'A|r(x)' 'B|w(x)' 'A|w(x)' 'A|end'; cat fine.std; } >plain.std
    tms check -q --first --json plain.std
    query 'd[0]["trace"]["events"] == 4'
    query '[r["verdict"] for r in d[0]["results"]] == ["violation", "affected", "incomplete"]'
    tms check -q --first --engine=sidetrack --json long.std
    query 'd[0]["trace"]["events"] < 17'
}

@test "settings of the engines take their words, and no others" {
    for good in predict=shared predict=variable,atomic predict=none race-test=default \
        race-test=multilockset race-test=eraser race-test=praun-gross race-test=atomizer escape=off escape=events blocks=1v blocks=full \
        periods no-periods no-acq-rel; do
        tms check -q "--$good" --engine=sidetrack,blocks,reduction,atomizer fine.std
        [ "$status" -eq 0 ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    for bad in predict=locks predict=shared,none predict= race-test=hybrid escape=on blocks=3v \
        blocks=1v,2v; do
        tms check "--$bad" fine.std
        [ "$status" -eq 2 ]
        [[ $stderr == *"tmesis: --${bad%%=*} takes "* ]]
    done
    tms check --no-periods=yes fine.std
    [ "$status" -eq 2 ]
    [[ $stderr == *'tmesis: --no-periods takes no value, but was given "yes"'* ]]
}

@test "settings change what is found" {
    # A shared lock, taken twice, and a writer that comes later.
    printf '%s\n' 'A|begin(look)' 'A|racq(m)' 'A|rrel(m)' 'A|racq(m)' 'A|rrel(m)' 'A|end' \
        'B|acq(m)' 'B|rel(m)' >shared.std
    tms check -q shared.std
    [[ $stderr == *": predicted: "* ]]
    tms check -q --predict=none shared.std
    [[ $stderr == *": serializable: "* ]]
    tms check -q --escape=off --engine=blocks lost.std
    [[ $stderr == *": potential: "* ]]
    # The race test of atomizer's paper allows two threads that own x in turn.
    printf '%s\n' 'A|w(x)' 'B|begin(add)' 'B|r(x)' 'B|w(x)' 'B|end' >owners.std
    tms check -q --escape=off --engine=atomizer owners.std
    [[ $stderr == *": none-potential: "* ]]
    tms check -q --escape=off --engine=atomizer --race-test=multilockset owners.std
    [[ $stderr == *": potential: "* ]]
    tms check -q --escape=off --engine=reduction owners.std
    [[ $stderr == *": potential: "* ]]
}

@test "races: the two accesses, and that nothing orders them" {
    tms check --engine=fasttrack "$(trace race)"
    [ "$status" -eq 0 ]
    [[ $stderr == *": race: two conflicting accesses are unordered, first at event 9."* ]]
    [[ $flat == *"predicted: data race on x: A wrote x (event 6) before C read it (event 9), and nothing orders the two."* ]]
    [[ $flat == *"predicted: data race on x: C read x (event 9) before B wrote it (event 15), and nothing orders the two."* ]]
    tms check --engine=fasttrack fine.std
    [[ $stderr == *": no-race: all conflicting accesses of this run are ordered."* ]]
}

@test "a thread that the block starts and joins is not said to come there by timing" {
    printf '%s\n' 'A|begin(f)' 'A|acq(m)' 'A|rel(m)' 'A|fork(B)' 'B|acq(m)' 'B|rel(m)' \
        'A|join(B)' 'A|acq(m)' 'A|rel(m)' 'A|end' >inside.std
    tms check --engine=sidetrack inside.std
    [[ $flat == *"In this run B's acquire came between the two (event 5). Holding m across both acquires would prevent it, unless the block waits for B in between."* ]]
    [[ $flat != *"Only timing"* ]]
    tms check --engine=sidetrack "$(trace whole)"
    [[ $flat == *"Only timing caused that order; no fork, join or lock held throughout enforces it."* ]]
}

@test "the table has the words as well, and colours only where they are wanted" {
    tms check --table --engine=frontier,sidetrack,fasttrack,goodlock,blocks "$(trace order)"
    grep -qE '^sidetrack +predicted ' <<<"$stderr"
    grep -qE '^fasttrack +no-race ' <<<"$stderr"
    grep -qE '^goodlock +potential ' <<<"$stderr"
    tms check --color=always "$(trace whole)"
    [[ $stderr == *$'\e[1;31mpredicted\e[0m: '* ]]
    plain=$(printf '%s\n' "$stderr" | sed 's/\x1b\[[0-9;]*m//g')
    tms check "$(trace whole)"
    [[ $stderr != *$'\e'* ]]
    [ "$plain" = "$stderr" ]
}

@test "as many in full as fit, then a line each, then a count; verbose shows all" {
    for i in {1..14}; do sed "s/deposit/block$i/" "$(trace whole)"; done >many.std
    tms check --engine=frontier,sidetrack --json many.std
    query 'd[0]["results"][1]["violation_count"] >= 14'
    [ "$(wc -l <<<"$stderr")" -le 60 ]
    shown=$(grep -c '^AV-' <<<"$stderr")
    [ "$shown" -ge 2 ]
    [ "$(grep -c 'What can happen' <<<"$stderr")" -ge 1 ]
    [[ $stderr =~ ([0-9]+)' more: --verbose' ]]
    left=${BASH_REMATCH[1]}
    tms check --engine=frontier,sidetrack --verbose many.std
    [ "$(grep -c '^AV-' <<<"$stderr")" -eq $((shown + left)) ]
    [ "$(grep -c 'What can happen' <<<"$stderr")" -eq $((shown + left)) ]
    [[ $stderr != *"more: --verbose"* ]]
    tms check --engine=frontier,sidetrack --max-violations=3 many.std
    [[ $stderr == *" more of sidetrack are not listed (--max-violations)."* ]]
    tms check -q --max-violations=1 --fail-on=predicted many.std
    [ "$status" -eq 1 ]
}
