#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/user/ci.md: what it shows is extracted and run as it is.
# shellcheck disable=SC2030,SC2031,SC2154,SC2016 # bats and common.bash set them; make and CMake expand the rest
load common

setup() {
    unset "${!TMESIS_@}" NO_COLOR CC CXX
    bin=$(dirname "$(realpath "$tmesis")")
    PATH=$bin:$PATH
    document=$top/docs/user/ci.md
    cd "$BATS_TEST_TMPDIR" || return
    cp "$top/examples/bank/buggy.c" bank.c
}

# block LANGUAGE WORD: the first code block in this language that has the word in it.
block() {
    python3 -c 'import re, sys
blocks = re.findall(r"^```" + sys.argv[2] + r"\n(.*?)^```$", open(sys.argv[1]).read(), re.S | re.M)
print(next(block for block in blocks if sys.argv[3] in block), end="")' "$document" "$1" "$2"
}

# pasted WORD: runs the commands of a block; each ends with the status that its comment states.
pasted() {
    local line wanted
    while IFS= read -r line <&9; do
        wanted=0
        [[ ! $line =~ '# exit status '([0-9]+) ]] || wanted=${BASH_REMATCH[1]}
        run bash -c "$line"
        printf '$ %s\n%s\n' "$line" "$output"
        [ "$status" -eq "$wanted" ]
    done 9< <(block sh "$1")
}

# configured LINE…: the status and the output of CMake for a project without a language.
configured() {
    mkdir -p none
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(none NONE)' \
        'find_package(tmesis REQUIRED)' "$@" >none/CMakeLists.txt
    run cmake -S none -B none/build
    echo "$output"
    flat=$(tr -s ' \n' ' ' <<<"$output")
}

# watchable FILE: it was compiled for tmesis, and the compiler's own runtime is not in it.
watchable() {
    nm "$1" | grep -q ' [TUW] __tsan_\(write4\|func_entry\)$'
    [[ $(ldd "$1") != *tsan* ]]
}

@test "an empty CMake project gets a test that fails, and passes once the bug is fixed" {
    block cmake tmesis_add_test >CMakeLists.txt
    block sh 'ctest --test-dir build --output' | head -n 2 >build.sh
    bash -e build.sh
    run ctest --test-dir build --output-on-failure
    echo "$output"
    [ "$status" -eq 8 ]
    [[ $output == *"deposit() is not atomic: an update of account.balance was lost"* ]]
    [[ $output == *"10 runs"* ]]
    "$tmesis" explain build/tmesis/bank-atomic.json AV-bc22fc | grep -q 'deposit()'
    cp "$top/examples/bank/fixed.c" bank.c
    pasted 'ctest --test-dir build --output'
}

@test "tmesis_instrument: programs and libraries, C and C++, gcc and clang" {
    mkdir project
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(parts C CXX)
find_package(tmesis 0.1 REQUIRED)
add_library(shared SHARED one.c)
add_library(static STATIC two.cpp)
add_executable(program main.cpp)
target_link_libraries(program shared static) # the signature without keywords
target_link_options(shared PRIVATE -Wl,--no-undefined)
add_executable(plain plain.c)
tmesis_instrument(shared static program)
END
    echo 'int count; int one(void) { return count++; }' >project/one.c
    echo 'int total; int two() { return total++; }' >project/two.cpp
    echo 'extern "C" int one(); int two(); int main() { return one() + two(); }' >project/main.cpp
    echo 'int count; int main(void) { return count++; }' >project/plain.c
    for compiler in gcc clang; do
        CC=$compiler CXX=${compiler/gcc/g}++ cmake -S project -B "$compiler" -DCMAKE_BUILD_TYPE=Debug
        cmake --build "$compiler"
        watchable "$compiler/program"
        nm "$compiler/libshared.so" | grep -q ' U __tsan_write4$'
        "$compiler/program"
        [[ $(nm "$compiler/plain") != *tsan* ]]
    done
    CC=tmesis-cc CXX=tmesis-c++ cmake -S project -B wrapped
    run cmake --build wrapped --verbose
    [ "$status" -eq 0 ]
    [[ $output != *-fsanitize=thread* ]]
    watchable wrapped/program
}

@test "tmesis_add_test hands on arguments and options, and says what it can't do" {
    configured 'enable_testing()' \
        'tmesis_add_test(NAME a/b COMMAND sh -c "exit 5" ARGS --fail-on=error --exit-code=7)'
    [ "$status" -eq 0 ]
    run ctest --test-dir none/build --verbose
    echo "$output"
    [[ $output == *'"--fail-on=error" "--exit-code=7" "--" "sh" "-c" "exit 5"'* ]]
    [[ $output == *'Failed'* ]]
    [ -s none/build/tmesis/a_b.json ]
    configured 'tmesis_add_test(NAME alone)'
    [ "$status" -ne 0 ]
    [[ $flat == *"does not know what to do with: NAME;alone"* ]]
    configured 'tmesis_instrument(nowhere)'
    [[ $flat == *"tmesis_instrument: nowhere is not a target; add it first"* ]]
    configured 'add_library(headers INTERFACE)' 'tmesis_instrument(headers)'
    [[ $flat == *"tmesis_instrument: nothing is compiled for headers"* ]]
    configured 'find_package(tmesis 9.0)' 'message(STATUS "found ${tmesis_FOUND}")'
    [[ $flat == *"found 0"* ]]
}

# merged: the last command reported the bug once for the two tests that have it, and saved it.
merged() {
    [ "$(grep -c 'deposit() is not atomic: an update of account.balance was lost' <<<"$output")" -eq 1 ]
    grep -qE 'in 2 of [23] processes' <<<"$output"
    "$tmesis" explain result.json AV-bc22fc | grep -q 'deposit()'
}

@test "tmesis run ctest: the findings of all tests are merged" {
    block cmake tmesis_add_test | sed '/tmesis/d' >CMakeLists.txt
    printf 'add_test(NAME %s COMMAND bank)\n' first second >>CMakeLists.txt
    pasted 'json=result.json ctest'
    merged
}

@test "tmesis run make check: the findings of all tests are merged" {
    printf '%s\n' 'bank: bank.c' $'\t$(CC) $(CFLAGS) -pthread $< -o $@' 'check: bank' $'\t./bank' $'\t./bank' >Makefile
    pasted 'json=result.json make check'
    merged
}

@test "tmesis run meson test: the findings of all tests are merged" {
    cat >meson.build <<'END'
project('bank', 'c')
bank = executable('bank', 'bank.c', dependencies: dependency('threads'))
test('first', bank)
test('second', bank)
END
    pasted 'meson test -C'
    merged
    [[ $output != *_Py* ]]
}

@test "a test in meson fails on findings" {
    block meson bank-atomic >meson.build
    pasted 'meson test -C build '
    grep -q 'deposit() is not atomic' build/meson-logs/testlog.txt
}

# tested STATUS WORDS: meson's test in build-flags ends with this status, and says these words.
tested() {
    ninja -C build-flags bank subprojects/tmesis/tmesis
    run meson test -C build-flags --no-rebuild --print-errorlogs --verbose
    echo "$output"
    [ "$status" -eq "$1" ]
    [[ $output == *"$2"* ]]
}

@test "tmesis as a subproject of meson: the example, then the documented lines" {
    cp -r "$top/examples/project/." .
    diff <(grep -v '^#' subprojects/tmesis.wrap) <(block ini wrap-git)
    ln -s "$(realpath "$top")" subprojects/tmesis
    meson setup build-flags -Dwatched=enabled --buildtype=debug --force-fallback-for=tmesis
    run meson introspect build-flags --tests
    query '[test["name"] for test in d[0]] == ["bank-atomic"]'
    tested 1 'account_deposit() is not atomic: an update of balance was lost'
    sed -i 's/account_set(account_get() + amount);/pthread_mutex_lock(\&lock); balance += amount; pthread_mutex_unlock(\&lock);/' account.c
    tested 0 'serializable'
    block meson "dependency('tmesis-rt')" >meson.build
    cp "$top/examples/bank/buggy.c" bank.c
    tested 1 'deposit() is not atomic: an update of account.balance was lost'
}

# matches MATCHERS: "SEVERITY FILE:LINE MESSAGE" for each finding in the report on standard input.
matches() {
    python3 -c 'import json, re, sys
lines = sys.stdin.read().split("\n")
for matcher in json.load(open(sys.argv[1]))["problemMatcher"]:
    patterns = matcher["pattern"]
    for start in range(len(lines) - len(patterns) + 1):
        found = [re.search(p["regexp"], line) for p, line in zip(patterns, lines[start:])]
        if all(found):
            field = {k: f[p[k]] for p, f in zip(patterns, found) for k in p if k != "regexp"}
            print(matcher["severity"], field["file"] + ":" + field["line"], field["message"])' "$1"
}

@test "the steps of the GitHub action, with the inputs of the documented workflow" {
    printf '%s\n' 'bank: bank.c' $'\t$(CC) $(CFLAGS) -pthread $< -o $@' >Makefile
    block yaml OWNER >workflow.yml
    python3 -c 'import re, shlex, sys, yaml
inputs = next(s["with"] for s in yaml.safe_load(open("workflow.yml"))["jobs"]["atomicity"]["steps"]
              if "OWNER" in s["uses"])
for number, step in enumerate(yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]):
    values = {k: inputs[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", v)[1]]
              for k, v in step.get("env", {}).items()}
    with open("step%d.sh" % number, "w") as out:
        out.writelines("export %s=%s\n" % (k, shlex.quote(v)) for k, v in values.items())
        out.write(step["run"])' "$top/ci/github/action.yml"
    export GITHUB_ACTION_PATH=$top/ci/github GITHUB_STEP_SUMMARY=$PWD/summary GITHUB_PATH=$PWD/path
    for number in 0 1 2 3; do
        run bash --noprofile --norc -eo pipefail "step$number.sh"
        echo "step $number: status $status"
        echo "$output"
        [ "$status" -eq $((number == 2 ? 66 : 0)) ]
        [ "$number" -ne 2 ] || matches "$GITHUB_ACTION_PATH/problem-matcher.json" <<<"$output" >problems
    done
    grep -qx 'error bank.c:39 deposit() is not atomic: an update of account.balance was lost' problems
    grep -q 'deposit() is not atomic' summary
    jq -e '.version == "2.1.0" and (.runs[0].results | length) > 0' tmesis.sarif
}

@test "the script of the GitLab job" {
    printf '%s\n' 'bank: bank.c' $'\t$(CC) $(CFLAGS) -pthread $< -o $@' >Makefile
    block yaml after_script >job.yml
    python3 -c 'import yaml
job = yaml.safe_load(open("job.yml"))["atomicity"]
for part in "script", "after_script":
    open(part, "w").write("\n".join(job[part]) + "\n")'
    run bash -e script
    echo "$output"
    [ "$status" -eq 66 ]
    bash -e after_script
    grep -q '<failure .*deposit() is not atomic' tmesis.xml
}

@test "the problem matchers: of the editor as of GitHub, also for titles of two lines" {
    matchers=$top/ci/github/problem-matcher.json
    diff <(block json problemMatcher | jq '.tasks[0].problemMatcher | map(del(.fileLocation))') \
        <(jq .problemMatcher "$matchers")
    run matches "$matchers" <<'END'
! account_transfer_all() is not atomic: it read balances that changed  AV-0123ab
  between two reads
  source dir/account.c:7 · cut in 1 of 2 executions

· cashier() was cut: it read back another thread's value               AV-e32f1c
  bank.c:46 · cut in 4 of 4 executions
END
    echo "$output"
    [ "$output" = "warning source dir/account.c:7 account_transfer_all() is not atomic: it read balances that changed" ]
}
