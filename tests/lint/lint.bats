#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Rules for every file of the project. A violated rule prints the place.

# The lists of files are made once: each takes longer than most tests.
setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    tests/lint/files >"$BATS_FILE_TMPDIR/all"
    tests/lint/files '*.c' '*.h' >"$BATS_FILE_TMPDIR/c_files"
    tests/lint/files 'include/*.h' 'src/*.h' 'runtime/*.h' 'preload/*.h' 'tests/*.h' >"$BATS_FILE_TMPDIR/headers"
    tests/lint/files 'include/*.h' 'src/*.[ch]' 'runtime/*.[ch]' 'preload/*.[ch]' >"$BATS_FILE_TMPDIR/product"
    { xargs -d '\n' grep -lE '^#!.*\b(bash|bats)$' <"$BATS_FILE_TMPDIR/all" &&
        tests/lint/files '*.bash'; } >"$BATS_FILE_TMPDIR/scripts"
    { tests/lint/files '*.c' '*.h' '*.bats' '*.py' '*.map' '*meson.build' Makefile &&
        cat "$BATS_FILE_TMPDIR/scripts"; } >"$BATS_FILE_TMPDIR/sources"
    grep -vE '^(LICENSE|tests/(fuzz/corpus|golden)/.*)$' "$BATS_FILE_TMPDIR/all" |
        xargs -d '\n' grep -lI '' >"$BATS_FILE_TMPDIR/texts"
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    mapfile -t c_files <"$BATS_FILE_TMPDIR/c_files"
    mapfile -t headers <"$BATS_FILE_TMPDIR/headers"
    mapfile -t product <"$BATS_FILE_TMPDIR/product"
    mapfile -t scripts <"$BATS_FILE_TMPDIR/scripts"
    mapfile -t sources <"$BATS_FILE_TMPDIR/sources"
    mapfile -t texts <"$BATS_FILE_TMPDIR/texts"
}

# nothing GREP-ARGUMENT…: no line may match.
nothing() {
    run grep -nH "$@"
    echo "$output"
    [ "$status" -eq 1 ]
}

@test "C files are formatted" {
    clang-format --dry-run -Werror "${c_files[@]}"
}

@test "sources name their licence" {
    run grep -L 'SPDX-License-Identifier: ' "${sources[@]}"
    echo "$output"
    [ -z "$output" ]
}

@test "no trailing blanks, no tabs in C" {
    nothing -E '[[:blank:]]+$' "${texts[@]}"
    nothing -P '\t' "${c_files[@]}"
}

@test "every text file ends with a line end" {
    run grep -LzP '\n\z' "${texts[@]}"
    echo "$output"
    [ -z "$output" ]
}

@test "types in headers have the prefix" {
    local product_headers
    mapfile -t product_headers < <(printf '%s\n' "${product[@]}" | grep '\.h$')
    nothing -P '^(struct|union|enum) (?!tms_|tmesis_)\w+ *(\{|$)' "${product_headers[@]}"
}

@test "no banned functions" {
    nothing -P '\b(strcpy|strcat|sprintf|vsprintf|gets|rand|srand|strtok|alloca|atoi|atol) ?\(' \
        "${product[@]}"
}

@test "every body of a statement has braces" {
    nothing -P '^\s*((} )?(else )?if|for|(?<!} )while) \(.*\)(\s*\\)?$' "${product[@]}"
    nothing -P '^\s*(} )?else(\s*\\)?$' "${product[@]}"
}

@test "open questions are marked NEEDSWORK" {
    nothing -wE "TO""DO|FIX""ME|XX""X|HA""CK" "${texts[@]}"
}

@test "no machine-specific paths and no filler words" {
    nothing -E '(^|[^[:alnum:]_.*-])/(wor[k]|hom[e]|roo[t])(/|$)' "${texts[@]}"
    nothing -iwP 'h[e]lpers?|s[e]ssions?|mis[c](?!:Depends)|u[t]ils?' "${texts[@]}"
}

@test "spelling" {
    codespell "${texts[@]}"
}

@test "links and mentions of documents lead somewhere" {
    tests/lint/links "${texts[@]}"
}

@test "files and identifiers that documents for contributors name exist" {
    mapfile -t documents < <(tests/lint/files CONTRIBUTING.md 'docs/internals/*.md' 'docs/research/*.md')
    tests/lint/names "${documents[@]}"
}

@test "shell scripts pass shellcheck" {
    shellcheck "${scripts[@]}"
}

@test "every header compiles alone" {
    # shellcheck disable=SC2016 # the inner shell expands it
    printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I HEADER sh -c \
        'echo "#include \"$0\"" | cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iinclude -Isrc -Itests \
            -xc -fsyntax-only - -I. || { echo "$0" && exit 1; }' HEADER
}

@test "public headers compile as strict C and as C++" {
    for header in include/tmesis/*.h; do
        echo "$header"
        cc -std=c11 -Wall -Wextra -Wpedantic -Werror -xc -fsyntax-only - <<<"#include \"$header\"" -I.
        c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -xc++ -fsyntax-only - \
            <<<"#include \"$header\"" -I.
    done
}

# Which directories a part of the source may include from; a file name allows that file alone.
allowed_for() {
    case $1 in
    base) echo 'base/' ;;
    clock) echo 'base/ clock/' ;;
    trace) echo 'base/ trace/' ;;
    spec) echo 'base/ trace/ spec/' ;;
    engine_api) echo 'base/ trace/ spec/ engine_api/' ;;
    frontier) echo 'base/ clock/ frontier/ engine_api/ trace/op.h trace/op_traits.h' ;;
    lockset) echo 'base/ clock/ spec/ engine_api/ lockset/' ;;
    engines) echo 'base/ clock/ trace/ spec/ engine_api/ frontier/ lockset/ engines/' ;;
    analysis) echo 'base/ trace/ spec/ engine_api/ engines/ analysis/' ;;
    judge) echo 'base/ spec/ engine_api/ analysis/ judge/' ;;
    predict) echo 'base/ clock/ predict/' ;;
    report) echo 'base/ report/' ;;
    gen) echo 'gen/' ;;
    hunt) echo 'base/ hunt/ protocol/schedule.h' ;;
    saved) echo 'base/ saved/' ;;
    store) echo 'base/ saved/ store/' ;;
    symbol) echo 'base/ symbol/' ;;
    protocol) echo "protocol/" ;;
    spool) echo "base/ spool/ symbol/ protocol/ runtime/core/rt.h" ;;
    cli) echo "base/ cli/ gen/ hunt/ saved/ store/ spool/ protocol/config.h protocol/schedule.h" ;;
    man) echo "cli/ man/" ;;
    runtime) echo "base/ clock/ trace/op.h frontier/ judge/ predict/ spec/ protocol/ runtime/" ;;
    preload) echo "base/hash_mix.h runtime/ $(cd preload && echo *.h)" ;;
    *) echo "src/$1 has no rule" >&2 ;;
    esac
}

# In awk, because bats is slow in loops of many steps.
@test "includes point the right way" {
    grep -rnoP '^\s*#\s*include\s*"\K[^"]+' src runtime preload --include='*.[ch]' |
        sed -E 's,^(src/)?([^/]+),\2:&,' >"$BATS_TEST_TMPDIR/includes"
    cut -d: -f1 "$BATS_TEST_TMPDIR/includes" | sort -u | while read -r part; do
        echo "$part tmesis/ $(allowed_for "$part")"
    done >"$BATS_TEST_TMPDIR/rules"
    awk 'NR == FNR { rule[$1] = $0; next }
        {
            split($0, field, ":")
            good = 0
            for (i = split(rule[field[1]], allowed, " "); i > 1; i--)
                good = good || index(field[4], allowed[i]) == 1
            if (!good) {
                print field[2] ":" field[3] ": " field[1] " must not include " field[4]
                bad = 1
            }
        }
        END { exit bad }' "$BATS_TEST_TMPDIR/rules" "$BATS_TEST_TMPDIR/includes"
}

@test "no two modules have the same name" {
    twice=$(tests/lint/files 'src/*.[ch]' 'runtime/*.[ch]' 'preload/*.[ch]' | sed 's/[.][ch]$//' | sort -u |
        sed 's,.*/,,' | sort | uniq -d)
    echo "$twice"
    [ -z "$twice" ]
}

@test "the runtime's memory never comes from the C library" {
    nothing -rP 'struct tms_memory\b(?! \*)(?!.*TMS_RT_MEMORY)' runtime preload
}

@test "the public header includes the C library only" {
    nothing -E '#[[:blank:]]*include[[:blank:]]*"' include/tmesis/tmesis.h
}

@test "the symbol map lists the functions of the public header" {
    diff <(tests/lint/functions include/tmesis/tmesis.h) \
        <(sed -nE 's/^ +(tms_\w+);$/\1/p' src/libtmesis.map)
}

@test "the build knows every source file and every test of the command line" {
    mapfile -t files < <(tests/lint/files 'src/*.c' 'runtime/*.c' 'preload/*.c' 'tests/unit/*.c' \
        'tests/differential/*.c' 'tests/e2e/*.bats')
    tests/lint/unbuilt "${files[@]}"
}

@test "the build knows every manual page" {
    for page in $(tests/lint/files 'docs/man/*.1.scd'); do
        grep -qF "'$(basename "$page" .scd)'" meson.build || { echo "$page" && return 1; }
    done
}

# exports.list is made together with the archive.
@test "make demo builds every file of the runtime" {
    sed -nE 's/^ +X\("([^"]+)", .*/\1/p' src/cli/toolchain.h | grep -v '^exports.list$' |
        while read -r file; do
            make -n demo | grep -qF "runtime/$file" || { echo "$file" && return 1; }
        done
}

# needed_libraries: the packages, by scripts/install-deps, of the libraries that meson.build can't do without.
needed_libraries() {
    sed -nE "s/^\w+ = dependency\('([^']+)'\)$/\1/p" meson.build | grep -vx threads |
        while read -r library; do
            awk -v library="$library" '$1 == "lib" && $2 == library { print $3; found = 1 }
                END { if (!found) print "scripts/install-deps:" library }' scripts/install-deps
        done
}

@test "every list of packages has the libraries that the build needs" {
    [[ $(needed_libraries) == *libzstd-dev* ]]
    for list in debian/control ci/github/action.yml docs/internals/dependencies.md; do
        needed_libraries | while read -r package; do
            # What the packages made here depend on is not what the build needs.
            sed '/^Package:/,$d' "$list" | grep -qw -e "$package" || { echo "$list: $package is missing" && return 1; }
        done
    done
    # The image has no list of its own.
    grep -q 'apt-get build-dep .*/source/tmesis' ci/Containerfile
    nothing -E '\blib[a-z0-9]+' ci/Containerfile
}

@test "the version is the same everywhere" {
    version=$(sed -nE "s/^ *version: '([0-9.]+)',/\1/p" meson.build)
    header=$(awk '/#define TMS_VERSION_(MAJOR|MINOR|PATCH)/ {printf "%s%s", dot, $3; dot = "."}' \
        include/tmesis/tmesis.h)
    [ -n "$version" ]
    [ "$version" = "$header" ]
    [[ $(head -n 1 debian/changelog) == "tmesis ($version-"* ]]
}

# The sanitized build has them, and so has its runtime in the programs that tests watch.
@test "engines, judge and runtime have 15 assertions per thousand lines" {
    for part in src/frontier src/engines src/lockset src/judge runtime/shadow runtime/core; do
        length=$(cat "$part"/*.[ch] | wc -l)
        asserts=$(cat "$part"/*.[ch] | grep -cE '\bassert\(')
        echo "$part: $asserts in $length lines"
        ((asserts * 1000 >= 15 * length)) || return 1
    done
}

@test "function lengths are reported (without a limit)" {
    tests/lint/function-lengths src runtime preload >&3
}

@test "every deliberate fault still changes its file" {
    while IFS=$'\t' read -r file expression meaning; do
        if sed "$expression" "$file" | cmp -s - "$file"; then
            echo "$file: $meaning" && return 1
        fi
    done < <(grep -hv '^#' tests/judge/MUTATIONS tests/weave/MUTATIONS)
}

@test "headings of sections are one line" {
    nothing -E '^/\* ----.*[^/]$' "${c_files[@]}"
}

@test "architecture.md names every directory of the source" {
    for directory in $(tests/lint/files 'src/*/*' 'runtime/*/*' | cut -d/ -f1,2 | sort -u); do
        grep -qF "\`$directory\`" docs/internals/architecture.md || { echo "$directory" && return 1; }
    done
}
