#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tmesis report --format, and --report of the commands that make results. The results in reports/
# are those of the nine programs of examples/, saved.
# shellcheck disable=SC2154 # variables of common.bash
load common

examples='bank lazy logbuffer refcount requeue stringbuffer tickets two-tables vector'

# multitool FILE…: the validator of SARIF's authors, which has the official schema in it; a test
# that needs it is skipped where it is not installed (npm: @microsoft/sarif-multitool-linux).
multitool() {
    local tool=${SARIF_MULTITOOL:-$(command -v Sarif.Multitool)}
    [ -n "$tool" ] || skip "Sarif.Multitool is not there; SARIF_MULTITOOL says where it is"
    DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 "$tool" validate "$@" --rule-kind Sarif --level Error \
        --log ForceOverwrite --output findings.sarif
    python3 -c 'import json, sys
run = json.load(open("findings.sarif"))["runs"][0]
bad = [r for r in run["results"] if r.get("level") == "error"]
sys.exit(f"{bad}" if bad else 0)'
}

# the_others: --report options for all formats but SARIF, to out.FORMAT.
the_others=(--report=junit:out.junit --report=github:out.github --report=markdown:out.markdown
    --report=csv:out.csv --report=html:out.html)

# browser ARGUMENT…: reports/browser.py, if there is something to look with.
browser() {
    command -v chromium >/dev/null || skip "chromium is not there"
    python3 "$here/reports/browser.py" "$@"
}

@test "SARIF of the nine examples has their ids and interleavings" {
    for name in $examples; do
        "$tmesis" report --format=sarif -o "$name.sarif" "$here/reports/$name.json"
        python3 "$here/reports/sarif.py" "$here/reports/$name.json" "$name.sarif"
    done
}

@test "SARIF of the nine examples keeps to the official schema" {
    for name in $examples; do
        "$tmesis" report --format=sarif -o "$name.sarif" "$here/reports/$name.json"
    done
    multitool ./*.sarif
}

@test "SARIF of every engine's findings on the golden traces" {
    local pairs=()
    for trace in "$golden"/*.std; do
        name=$(basename "$trace" .std)
        tms check -q --engine=all --json="$name.json" --report=sarif:"$name.sarif" "$trace"
        pairs+=("$name.json" "$name.sarif")
    done
    python3 "$here/reports/sarif.py" "${pairs[@]}"
}

@test "SARIF has a file for each result and step, also without debug information" {
    printf '%s\n' 'A|begin(deposit)' 'A|r(x)' 'B|w(x)' 'A|w(x)' 'A|end' >'no lines.std'
    tms check -q --json=trace.json --report=sarif:trace.sarif 'no lines.std'
    python3 "$here/reports/sarif.py" trace.json trace.sarif
    uris='[.. | .physicalLocation? // empty | .artifactLocation.uri] | unique'
    jq -e "$uris == [\"no%20lines.std\"]" trace.sarif
    jq -e '.runs[0].results[0].locations[0].logicalLocations[0].fullyQualifiedName == "deposit"' trace.sarif
    for command in './bank 7' "'./bank' 7"; do
        jq -c --arg command "$command" '.command = $command | walk(
            if type == "object" and has("location") then
            del(.file, .line, .source, .stack) | .location = "somewhere" else . end)' \
            "$here/reports/bank.json" >bare.json
        "$tmesis" report --format=sarif -o bare.sarif bare.json
        python3 "$here/reports/sarif.py" bare.json bare.sarif
        jq -e "$uris == [\"bank\"]" bare.sarif
    done
}

@test "the timeline of the nine examples has their interleavings" {
    for name in $examples; do
        "$tmesis" report --format=perfetto -o "$name.perfetto.json" "$here/reports/$name.json"
        python3 "$here/reports/timeline.py" findings "$here/reports/$name.json" "$name.perfetto.json"
    done
    # What the report quotes of a lost update: arrows from the read to the foreign write, and to the own one.
    jq -e '[.traceEvents[] | select(.ph == "s" or .ph == "f") | select(.pid == 1) | .ts] == [14, 34, 34, 44]' \
        bank.perfetto.json
    jq -e '.traceEvents | any(.cat == "lock" and .name == "T2" and .ts == 10 and .dur == 18)' bank.perfetto.json
}

@test "the timeline of every engine's findings on the golden traces" {
    for trace in "$golden"/*.std; do
        tms check -q --engine=all --json=result.json --report=perfetto:out.json "$trace"
        python3 "$here/reports/timeline.py" findings result.json out.json
    done
}

@test "JUnit, annotations, Markdown, CSV and HTML have the findings of the result" {
    for name in $examples; do
        for format in junit github markdown csv html; do
            "$tmesis" report --format="$format" -o "out.$format" "$here/reports/$name.json"
        done
        python3 "$here/reports/others.py" "$here/reports/$name.json" out
    done
    for traces in lost.std fine.std blameless.std "lost.std fine.std blameless.std"; do
        # shellcheck disable=SC2086 # several words
        tms check -q --json=result.json "${the_others[@]}" $traces
        python3 "$here/reports/others.py" result.json out
    done
    tms check -q --ignore-block='*' --json=result.json "${the_others[@]}" lost.std
    python3 "$here/reports/others.py" result.json out
}

@test "notes are annotations and rows of Markdown only with --notes" {
    tms report --format=github "$here/reports/bank.json"
    [[ $output != *::notice* ]]
    tms report --format=github --notes "$here/reports/bank.json"
    [[ $output == *'::notice file=examples/bank/buggy.c,line='*AV-e32f1c* ]]
    tms report --format=markdown --notes "$here/reports/bank.json"
    [[ $output == *'| note |'*AV-e32f1c* ]]
}

@test "documents count as the text report does, and say what they leave out" {
    for name in $examples; do
        "$tmesis" report "$here/reports/$name.json" | tail -n 1 | grep -o '^[0-9].* notes\?' |
            sed 's/ · /, /g' >text
        tms report --format=markdown "$here/reports/$name.json"
        [ "$(head -n 1 <<<"$output")" = "### tmesis: $(cat text)" ]
    done
    tms report --format=markdown "$here/reports/lazy.json"
    [[ $output == *'Not shown: 3 data races (--races).'* ]]
    tms report --format=markdown --races "$here/reports/lazy.json"
    [[ $output != *'Not shown'* && $output == *'data race on primes'* ]]
}

@test "documents have the order of the text report, for one run and as a hunt ranks" {
    for name in $examples; do
        jq -c '.hunt = {runs: 9, failed: 0} | .results[].violations |= (map(.runs = 1) | reverse)' \
            "$here/reports/$name.json" >ranked.json
        for result in "$here/reports/$name.json" ranked.json; do
            "$tmesis" report --notes --verbose "$result" | sed -n 's/^ *Not a bug?  --suppress=\(AV-[0-9a-f]*\).*/\1/p' >text
            [ -s text ]
            "$tmesis" report --format=csv "$result" | cut -d, -f1 | tr -d '"' | grep -Fxf text >heads
            cmp text heads
        done
    done
}

@test "a block is headed by what was observed, not by a prediction" {
    tms report --format=github "$here/reports/requeue.json"
    [[ $output == ::warning*AV-35f37f*::error*' can be cut: '* ]]
    "$tmesis" report --format=html -o requeue.html "$here/reports/requeue.json"
    jq -c '(.trace.path = "one, process 1" | .results[].violations |= map(select(.id != "AV-d5c378"))),
        (.trace.path = "two, process 2" | .results[].violations |= map(select(.id == "AV-d5c378"))),
        (.merged = true | .processes = 2)' "$here/reports/requeue.json" >merged.json
    "$tmesis" report --format=html -o merged.html merged.json
    for page in requeue.html merged.html; do # the block is one, whichever process showed a finding of it first
        browser entries "$page"
    done
}

@test "HTML quotes the source only from below the working directory" {
    cd "$top" || return
    "$tmesis" report --format=html "$here/reports/bank.json" >"$BATS_TEST_TMPDIR/here.html"
    cd "$BATS_TEST_TMPDIR" || return
    grep -q '"40": "    int balance = get_balance(to);"' here.html
    mkdir -p below
    echo secret >outside
    sed 's,examples/bank/buggy.c,../outside,g' "$here/reports/bank.json" >below/up.json
    sed "s,examples/bank/buggy.c,$PWD/outside,g" "$here/reports/bank.json" >below/whole.json
    cd below || return
    for name in up whole; do
        "$tmesis" report --format=html -o "$name.html" "$name.json"
        run ! grep secret "$name.html"
    done
}

# bats test_tags=browser
@test "HTML in a browser: keyboard, picture, source, search, filters, paper" {
    (cd "$top" && "$tmesis" report --format=html "$here/reports/bank.json") >bank.html
    browser small bank.html
}

# seven_nights: a history of results of the examples: bank's in the nights 3 to 5, lazy's in the
# last; the finding of two-tables is suppressed. Results differ by a space, or they would be one.
seven_nights() {
    local night name
    for night in {1..7}; do
        for name in stringbuffer two-tables vector tickets bank lazy; do
            case $name in
            bank) ((night >= 3 && night <= 5)) || continue ;;
            lazy) ((night == 7)) || continue ;;
            esac
            { cat "$here/reports/$name.json" && printf '%*s\n' "$night" ''; } >"$name$night.json"
        done
        "$tmesis" history import -q --store=nights.db --label="night$night" --revision="r$night" ./*"$night.json"
    done
    "$tmesis" history suppress --store=nights.db AV-075a23 --why='by design, see #12' --who=ada
}

# bats test_tags=browser
@test "HTML in a browser: findings over time" {
    seven_nights
    "$tmesis" report --store=nights.db --labels=3 --format=html -o nights.html
    browser history nights.html
}

# bats test_tags=browser
@test "HTML in a browser: 5,000 findings" {
    python3 "$here/reports/many.py" "$here/reports/bank.json" 5000 >many.json
    "$tmesis" report --format=html -o many.html many.json
    browser large many.html 5000
}

# bats test_tags=browser
@test "HTML in a browser: a few errors among thousands of notes, with long names" {
    python3 "$here/reports/crowd.py" "$here/reports/bank.json" 4000 >crowd.json
    "$tmesis" report --format=html -o crowd.html crowd.json
    browser crowd crowd.html 4004
}

# bats test_tags=browser
@test "HTML in a browser: results of one label" {
    "$tmesis" history import -q --store=one.db --label=gallery "$here"/reports/{bank,lazy}.json
    "$tmesis" report --store=one.db --format=html -o one.html
    browser results one.html
}

# bats test_tags=browser
@test "HTML in a browser: functions of the same name in two programs" {
    { cat "$here/reports/bank.json" && sed 's|"./bank"|"./other"|g' "$here/reports/bank.json"; } >two.json
    "$tmesis" report --format=html -o two.html two.json
    browser programs two.html
}

@test "HTML has each call stack once" {
    python3 "$here/reports/many.py" "$here/reports/bank.json" 1000 >many.json
    "$tmesis" report --format=html -o many.html many.json
    [ "$(grep -o '"function": "cashier"' many.html | wc -l)" -le 4 ]
}

@test "a document is the same from --report and from a saved result" {
    tms check -q --json=result.json --report=sarif:direct.sarif lost.std fine.std blameless.std
    [ "$status" -eq 1 ]
    tms report --format=sarif result.json
    [ "$status" -eq 0 ]
    cmp direct.sarif - <<<"$output"
    tms report --format=sarif -o again.sarif - <result.json
    cmp direct.sarif again.sarif
}

@test "SARIF marks what a baseline has and what is suppressed" {
    "$tmesis" check -q --json=old.json lost.std || true
    tms check -q --baseline=old.json --json=known.json --report=sarif:known.sarif lost.std blameless.std
    python3 "$here/reports/sarif.py" known.json known.sarif
    grep -q '"baselineState": "unchanged"' known.sarif
    grep -q '"baselineState": "new"' known.sarif
    tms check -q --ignore-block='*' --json=quiet.json --report=sarif:quiet.sarif lost.std
    python3 "$here/reports/sarif.py" quiet.json quiet.sarif
    grep -q '"kind": "external"' quiet.sarif
}

@test "names with odd bytes can't break a document" {
    printf '%s\n' 'A"\|begin(<b>\x01\xff&]]>)|a%b\x20c.c:3' 'A"\|r(x)' 'B|w(x)' 'A"\|w(x)' \
        'A"\|end(<b>\x01\xff&]]>)' | LC_ALL=C sed 's/A"\\|/A"\\x5c|/; s/&]]/\xef\xbf\xbe\xef\xbf\xbf&/' >odd.std
    tms check -q --format=std --json=odd.json --report=sarif:odd.sarif "${the_others[@]}" odd.std
    [ "$status" -eq 1 ]
    python3 "$here/reports/sarif.py" odd.json odd.sarif
    tms report --format=perfetto -o odd.timeline odd.json
    python3 "$here/reports/timeline.py" findings odd.json odd.timeline
    python3 "$here/reports/others.py" odd.json out
}

@test "run and hunt write reports, of one run and of many" {
    printf '%s\n' '#include <pthread.h>' 'static int sum;' \
        'static void add(void) { int old = sum; sum = old + 1; }' \
        'static void *work(void *unused) { for (int i = 0; i < 50; i++) add(); return unused; }' \
        'int main(void) { pthread_t other; pthread_create(&other, 0, work, 0); work(0);' \
        '    return pthread_join(other, 0); }' >sum.c
    "$tmesis" cc -g sum.c -o sum
    tms run -q --json=one.json --report=sarif:one.sarif ./sum
    python3 "$here/reports/sarif.py" one.json one.sarif
    tms run -q --runs=2 --json=two.json --report=sarif:two.sarif ./sum
    python3 "$here/reports/sarif.py" two.json two.sarif
    tms hunt -q -n 2 -o found --report=sarif:hunt.sarif ./sum
    python3 "$here/reports/sarif.py" found/result.json hunt.sarif
    tms report --format=sarif -o again.sarif found
    cmp hunt.sarif again.sarif
}

# abort_or_fail: a program that ends with status 3, or with an argument by SIGABRT.
abort_or_fail() {
    printf '%s\n' '#include <pthread.h>' '#include <stdlib.h>' 'static int sum;' \
        'static void add(void) { int old = sum; sum = old + 1; }' \
        'static void *work(void *unused) { add(); return unused; }' \
        'int main(int count, char **words) { pthread_t other; (void)words;' \
        '    pthread_create(&other, 0, work, 0); pthread_join(other, 0);' \
        '    if (count > 1) abort();' '    return 3; }' >fail.c
    "$tmesis" cc -g fail.c -o fail
}

@test "documents say that the program failed" {
    abort_or_fail
    tms run -q --json=status.json "${the_others[@]}" --report=sarif:out.sarif ./fail
    python3 "$here/reports/others.py" status.json out
    grep -q '<error type="program-failed" message="The program ended with status 3."/>' out.junit
    jq -e '.runs[0].invocations[0] | .exitCode == 3 and .executionSuccessful == false' out.sarif
    tms run -q --json=signal.json "${the_others[@]}" --report=sarif:out.sarif ./fail now
    python3 "$here/reports/others.py" signal.json out
    python3 "$here/reports/sarif.py" signal.json out.sarif
    grep -q '<testcase classname="tmesis" name="program"' out.junit
    grep -qF '**./fail now:** The program was ended by SIGABRT.' out.markdown
    grep -q '^::warning title=tmesis program-failed::./fail now: The program was ended by SIGABRT.$' out.github
    grep -q '"troubles": \["The program was ended by SIGABRT."\]' out.html
    jq -e '.runs[0].invocations[0] | .exitSignalName == "SIGABRT" and .exitSignalNumber == 6 and
        .executionSuccessful == false' out.sarif
    tms hunt -q -n 3 -o found --json=hunt.json "${the_others[@]}" ./fail now
    python3 "$here/reports/others.py" hunt.json out
    grep -qF 'The program failed in 3 of 3 runs (SIGABRT).' out.markdown
}

@test "documents name each way in which a program failed once, whatever it wrote" {
    jq -c '.hunt = {runs: 30, failed: 6, outcomes: [
        {kind: "signal", signal: 6, text: "a", runs: 1}, {kind: "status", status: 12, text: "a", runs: 1},
        {kind: "signal", signal: 6, text: "b", runs: 1}, {kind: "status", status: 1, text: "a", runs: 1},
        {kind: "timeout", runs: 1}, {kind: "status", status: 1, text: "b", runs: 1}]}' "$here/reports/bank.json" >hunt.json
    tms report --format=markdown hunt.json
    [[ $output == *'The program failed in 6 of 30 runs (SIGABRT, status 12, status 1, took too long).'* ]]
}

@test "documents have what a hunt counted, and the blocks that were cut along" {
    jq -c '.hunt = {runs: 30, failed: 5} | (.results[].violations[] | select(.level == "error")) +=
        {runs: 7, failed_runs: 5, first_seed: 12}' "$here/reports/lazy.json" >hunt.json
    for format in junit markdown html sarif; do
        "$tmesis" report --format="$format" -o "out.$format" hunt.json
        grep -q 'in 7 of 30 runs, first with seed 12; the program failed in 5 of them' "out.$format"
    done
    grep -q '^  cut along with it: reader()$' out.junit
    grep -qF '**Cut along with it:** reader()' out.markdown
    grep -qF '"outer": "reader()"' out.html
    jq -e '.runs[0].results[0].properties | .runs == 7 and .failedRuns == 5 and .firstSeed == 12 and
        .cutAlongWith == "reader()"' out.sarif
}

@test "data races are not doubted because of themselves, and no evidence is named twice" {
    doubt='this run has a data race'
    jq -cs '.[0].results |= map(select(.engine != "fasttrack")) |
        .[0].results += [.[1].results[] | select(.engine == "fasttrack")] | .[0]' \
        "$here"/reports/{requeue,lazy}.json >both.json
    for format in junit html sarif; do
        "$tmesis" report --format="$format" --races -o "out.$format" "$here/reports/lazy.json"
        grep -q 'data race on primes' "out.$format"
        run ! grep "$doubt" "out.$format"
        "$tmesis" report --format="$format" --races both.json | grep -q "$doubt"
    done
    run ! grep 'predicted, predicted' out.junit
    grep -q '^warning AV-f46269, predicted 3 times: data race on primes' out.junit
    "$tmesis" report --format=csv "$here/reports/lazy.json" >out.csv
    grep -q '^"AV-f46269",.*"get_primes","primes",' out.csv
}

@test "findings of several processes name theirs" {
    # No thread ends its block before both have begun theirs.
    printf '%s\n' '#include <pthread.h>' '#include <unistd.h>' 'static int sum;' 'static _Atomic int calls;' \
        'static void ADD(void) { int old = sum; calls++; while (calls < 2) usleep(1000); sum = old + 1; }' \
        'static void *work(void *unused) { ADD(); return unused; }' \
        'int main(void) { pthread_t other; pthread_create(&other, 0, work, 0); work(0);' \
        '    return pthread_join(other, 0); }' >sum.c
    "$tmesis" cc -g -DADD=first sum.c -o one
    "$tmesis" cc -g -DADD=second sum.c -o two
    tms run -q --json=both.json "${the_others[@]}" --report=sarif:out.sarif sh -c './one; ./two'
    python3 "$here/reports/others.py" both.json out
    grep -q '^"AV-.*,"first",.*,"one, process [0-9]*"' out.csv
    grep -q '^| .*second().*| two, process [0-9]* |$' out.markdown
    grep -q '^::.*first().* In: one, process [0-9]*\.$' out.github
    grep -q '^  in two, process [0-9]*$' out.junit
    grep -q '"path": "one, process ' out.html
    jq -e '.runs[0].results | all(.properties.process | test("^(one|two), process "))' out.sarif
    tms check -q "${the_others[@]}" lost.std blameless.std
    grep -q '^| .* | lost.std |$' out.markdown
    grep -q '^::.* In: lost.std\.$' out.github
}

# places: a lost update at locations that are no lines of files.
places() {
    printf '%s\n' 'T1|begin(f)|alpha' 'T1|r(x)|alpha' 'T2|w(x)|beta gamma' 'T1|w(x)|7' 'T1|end|8' >places.std
}

@test "locations that are no lines of files are named" {
    places
    tms check -q --json=result.json "${the_others[@]}" --report=sarif:out.sarif places.std
    python3 "$here/reports/others.py" result.json out
    python3 "$here/reports/sarif.py" result.json out.sarif
    grep -q '^  T1: write x at location 7$' out.junit
    grep -q '^| 2 | T2 | → write x | beta gamma |$' out.markdown
    grep -q '"f","x","",,,"f() is not atomic' out.csv
    grep -q ',"alpha",""' out.csv
    jq -e '[.runs[0].results[0].codeFlows[0].threadFlows[].locations[].location.logicalLocations[0].fullyQualifiedName] ==
        ["alpha", "location 7", "beta gamma"]' out.sarif
}

@test "test cases of blocks without a name have different names" {
    printf '%s\n' 'T1|begin|1' 'T1|r(x)|2' 'T2|begin|3' 'T2|w(x)|4' 'T1|w(x)|5' 'T1|end|6' 'T2|r(y)|7' 'T1|w(y)|8' \
        'T2|w(y)|9' 'T2|end|10' >two.std
    tms check -q --json=result.json "${the_others[@]}" two.std
    [ "$(grep -c 'name="(block without a name, AV-' out.junit)" -eq 2 ]
    python3 "$here/reports/others.py" result.json out
}

# bats test_tags=browser
@test "HTML in a browser: traces" {
    places
    tms check -q --report=html:one.html places.std
    tms check -q --report=html:two.html places.std lost.std
    sed 's/^T2/worker/' places.std >named.std
    tms check -q --report=html:named.html named.std
    browser traces one.html two.html named.html
}

@test "documents say that a result is incomplete, or that there was nothing to check" {
    printf 'T1|r(x)|1\nT2|w(x)|2\n' >noblock.std
    printf 'T1|begin(f)|1\nT1|w(x)|2\nT1|end|3\nT1|rel(m)|4\n' >odd.std
    for trace in noblock.std odd.std; do
        tms check -q --lenient --json=result.json "${the_others[@]}" --report=sarif:out.sarif "$trace"
        [ "$status" -ne 0 ]
        python3 "$here/reports/others.py" result.json out
        python3 "$here/reports/sarif.py" result.json out.sarif
        [ "$(grep -c '<error type="incomplete"' out.junit)" -eq 1 ]
        run ! grep 'no finding' out.junit
        jq -e '.runs[0].invocations[0] | .executionSuccessful == false and
            (.toolExecutionNotifications[0].message.text | startswith("Incomplete: "))' out.sarif
        [ "$trace" = odd.std ] || grep -q 'Nothing was checked, so this says nothing about the program' out.github
    done
    jq -c '.partial = true | del(.exit)' "$here/reports/bank.json" >partial.json
    tms report --format=markdown partial.json
    [[ $output == *'Incomplete: the program was still running.'* ]]
}

@test "documents and the text name a trace that could not be read, also if none could" {
    for traces in 'fine.std bad.std' 'bad.std none.std'; do
        # shellcheck disable=SC2086 # several words
        tms check -q --json=result.json "${the_others[@]}" --report=sarif:out.sarif --store=h.db $traces
        [ "$status" -eq 2 ]
        python3 "$here/reports/others.py" result.json out
        python3 "$here/reports/sarif.py" result.json out.sarif
        jq -e '.runs[0].invocations | map(select(.executionSuccessful == false).toolExecutionNotifications[0].message.text)[0]
            | startswith("The trace could not be read: bad.std:2: ")' out.sarif
        grep -q '<testcase classname="tmesis" name="trace"' out.junit
        for format in sarif junit html; do
            "$tmesis" report --format="$format" -o again result.json
            cmp again "out.$format"
        done
        tms report result.json
        [ "$status" -eq 0 ]
        [[ $output == *'bad.std: could not be read: bad.std:2: '* ]]
    done
    tms history results --store=h.db # only the one that has a result
    [ "${#lines[@]}" -eq 1 ]
}

@test "a result in which a member is missing, null or empty is shown or refused" {
    for trace in "$golden"/*.std; do
        tms check -q --engine=all --json="$(basename "$trace" .std).json" "$trace"
    done
    python3 "$here/reports/mutilate.py" "$tmesis" "$here"/reports/{lazy,requeue}.json ./*.json
    jq -c '(.results[] | select(.engine == "fasttrack").violations[].cycle) = null' "$here/reports/lazy.json" >race.json
    tms report --races race.json
    [ "$status" -eq 0 ]
    [[ $output == *"data race at event 90416; its two accesses are not known."* ]]
}

@test "wrong formats, files and places are refused in a sentence, before anything is done" {
    "$tmesis" check -q --json=result.json lost.std || true
    cp result.json before.json
    tms report --format=word result.json
    [ "$status" -eq 2 ]
    [[ $flat == *sarif* ]]
    tms report --format=sarif -o result.json result.json
    [ "$status" -eq 2 ]
    [[ $flat == *"same file"* ]]
    cmp result.json before.json
    for value in sarif sarif: word:x; do
        tms check -q --report="$value" lost.std
        [ "$status" -eq 2 ]
        [[ $flat == *FORMAT:FILE* || $flat == *"names no file"* ]]
    done
    tms check -q --report=sarif:lost.std lost.std
    [ "$status" -eq 2 ]
    [[ $flat == *"same file"* ]]
    tms check -q --report=sarif:x --report=sarif:./x lost.std
    [ "$status" -eq 2 ]
    [[ $flat == *"written twice"* ]]
    tms run -q --report=sarif:none/x.sarif true
    [ "$status" -eq 125 ]
    [[ $flat == *"none/x.sarif can't be written"* ]]
    [ ! -e x ]
}
