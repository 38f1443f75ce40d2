#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The files of `make install` suffice: the example is built against them, by pkg-config alone.

setup_file() {
    export TREE=$BATS_FILE_TMPDIR/tree
    meson install -C "$TMESIS_BUILD" --no-rebuild --destdir "$TREE" >"$BATS_FILE_TMPDIR/log"
    LIBDIR=$(dirname "$(find "$TREE" -name libtmesis.a)")
    export LIBDIR
    export PKG_CONFIG_PATH=$LIBDIR/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TREE
}

setup() {
    cd "$BATS_TEST_DIRNAME/../../examples/lib" || return
    # Programs linked with a sanitized library need the same sanitizers.
    flags=(-std=c11 -Wall -Wextra -Werror)
    if nm "$LIBDIR/libtmesis.a" 2>/dev/null | grep -q __asan_init; then
        flags+=("-fsanitize=address,undefined")
    fi
}

# build_example OUT PKG-CONFIG-OPTION…
build_example() {
    local out=$1 words
    shift
    read -ra words <<<"$(pkg-config --cflags --libs "$@" tmesis)"
    "${CC:-cc}" "${flags[@]}" lost_update.c "${words[@]}" -o "$out"
}

@test "the example runs with the shared library" {
    build_example "$BATS_TEST_TMPDIR/example"
    LD_LIBRARY_PATH=$LIBDIR ldd "$BATS_TEST_TMPDIR/example" | grep -q 'libtmesis.so.0 => '"$TREE"
    LD_LIBRARY_PATH=$LIBDIR "$BATS_TEST_TMPDIR/example" >"$BATS_TEST_TMPDIR/out"
    diff -u lost_update.expected "$BATS_TEST_TMPDIR/out"
}

@test "the example runs with the static library" {
    static=$BATS_TEST_TMPDIR/static
    cp -r "$TREE" "$static"
    find "$static" -name 'libtmesis.so*' -delete
    PKG_CONFIG_SYSROOT_DIR=$static PKG_CONFIG_PATH=${PKG_CONFIG_PATH/$TREE/$static} \
        build_example "$BATS_TEST_TMPDIR/example" --static
    run ldd "$BATS_TEST_TMPDIR/example"
    [[ $output != *libtmesis* ]]
    "$BATS_TEST_TMPDIR/example" >"$BATS_TEST_TMPDIR/out"
    diff -u lost_update.expected "$BATS_TEST_TMPDIR/out"
}

@test "the installed command runs, and its version is that of pkg-config" {
    command=$(find "$TREE" -path '*/bin/tmesis')
    run "$command" --version
    [ "$status" -eq 0 ]
    [[ $output == *"$(pkg-config --modversion tmesis)"* ]]
}

@test "the shared library carries its version in its name" {
    run readelf -d "$LIBDIR/libtmesis.so"
    [[ $output == *"soname: [libtmesis.so.0]"* ]]
}

@test "the shared library exports the functions of the header, and nothing else" {
    functions=$BATS_TEST_DIRNAME/../lint/functions
    diff <("$functions" "$(find "$TREE" -name tmesis.h)") \
        <(nm -D --defined-only "$LIBDIR/libtmesis.so" | sed -nE 's/.* [TBDR] (\w+)@.*/\1/p' | sort)
}

@test "the public headers are installed, and no others" {
    diff <(cd ../../include && find . -name '*.h' | sort) \
        <(cd "$(dirname "$(find "$TREE" -path '*/include/tmesis')")" && find . -name '*.h' | sort)
    # The runtime has one more of its own, for the compiler.
    [ "$(find "$TREE" -name "*.h" ! -path "*/lib*/tmesis/libstdcxx.h" | wc -l)" -eq "$(find ../../include -name "*.h" | wc -l)" ]
}

@test "every manual page is installed" {
    for page in "$BATS_TEST_DIRNAME"/../../docs/man/*.1.scd; do
        [ -e "$page" ] || continue
        find "$TREE" -path "*/man/man?/$(basename "$page" .scd)" | grep -q .
    done
}

@test "completion is installed where the shells look for it" {
    share=$(dirname "$(find "$TREE" -path '*/share/man')")
    bash -n "$share/bash-completion/completions/tmesis"
    [ "$(head -n 1 "$share/zsh/site-functions/_tmesis")" = "#compdef tmesis" ]
    grep -q 'complete -c tmesis' "$share/fish/vendor_completions.d/tmesis.fish"
}

@test "the installed wrapper finds the installed runtime" {
    bin=$(dirname "$(find "$TREE" -path '*/bin/tmesis')")
    cd ../bank
    for compiler in gcc clang; do
        TMESIS_CC=$compiler "$bin/tmesis-cc" -g buggy.c -o "$BATS_TEST_TMPDIR/bank"
        "$BATS_TEST_TMPDIR/bank" | grep -q 'paid in'
        nm "$BATS_TEST_TMPDIR/bank" | grep -q ' [TW] __tsan_func_entry$'
    done
    for name in tmesis-cc tmesis-c++; do
        "$bin/$name" --version | grep -q .
    done
}

# watched_here: from now on pkg-config takes the runtime's flags from $TREE, as if it were in place.
watched_here() {
    mkdir "$BATS_TEST_TMPDIR/pc"
    sed "s|^prefix=|&$TREE|" "$LIBDIR/pkgconfig/tmesis-rt.pc" \
        >"$BATS_TEST_TMPDIR/pc/tmesis-rt.pc"
    export PKG_CONFIG_PATH=$BATS_TEST_TMPDIR/pc
    unset PKG_CONFIG_SYSROOT_DIR
}

# built_watched DIRECTORY: program and library of the project are instrumented, and run.
built_watched() {
    nm "$1/bank" | grep -q ' [TW] __tsan_func_entry$'
    [[ $(ldd "$1/bank") != *tsan* ]]
    nm -D "$1/libaccount.so" | grep -q ' U __tsan_func_entry$'
    "$1/bank" | grep -q 'paid in 20000'
}

@test "the flags of pkg-config do what the wrapper does" {
    watched_here
    read -ra compiling <<<"$(pkg-config --cflags tmesis-rt)"
    read -ra linking <<<"$(pkg-config --libs tmesis-rt)"
    cd ../bank
    for compiler in gcc clang; do
        "$compiler" "${compiling[@]}" -c buggy.c -o "$BATS_TEST_TMPDIR/bank.o"
        "$compiler" "$BATS_TEST_TMPDIR/bank.o" "${linking[@]}" -o "$BATS_TEST_TMPDIR/bank"
        "$BATS_TEST_TMPDIR/bank" | grep -q 'paid in'
        nm "$BATS_TEST_TMPDIR/bank" | grep -q ' [TW] __tsan_func_entry$'
    done
}

@test "the CMake project builds with the wrapper, with pkg-config, and without either" {
    out=$BATS_TEST_TMPDIR
    bin=$(dirname "$(find "$TREE" -path '*/bin/tmesis')")
    CC=$bin/tmesis-cc cmake -S ../project -B "$out/wrapper" >&2
    cmake --build "$out/wrapper" >&2
    built_watched "$out/wrapper"
    watched_here
    cmake -S ../project -B "$out/flags" -DWATCHED=ON >&2
    cmake --build "$out/flags" >&2
    built_watched "$out/flags"
    cmake -S ../project -B "$out/plain" >&2
    cmake --build "$out/plain" >&2
    [[ $(nm "$out/plain/bank") != *tsan* ]]
}

@test "CMake finds the installed package, and that finds the installed command" {
    mkdir "$BATS_TEST_TMPDIR/none"
    cat >"$BATS_TEST_TMPDIR/none/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(none C)
find_package(tmesis REQUIRED)
message(STATUS "the command is ${TMESIS_COMMAND}, version ${tmesis_VERSION}")
END
    command=$(find "$TREE" -path '*/bin/tmesis')
    run cmake -S "$BATS_TEST_TMPDIR/none" -B "$BATS_TEST_TMPDIR/build" \
        -DCMAKE_PREFIX_PATH="${command%/bin/tmesis}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"the command is $command, version $(pkg-config --modversion tmesis)"* ]]
}

@test "the meson project builds with the wrapper, with pkg-config, and without either" {
    out=$BATS_TEST_TMPDIR
    bin=$(dirname "$(find "$TREE" -path '*/bin/tmesis')")
    # Even if the project forbids undefined references.
    CC=$bin/tmesis-cc meson setup -Db_lundef=true "$out/wrapper" ../project >&2
    ninja -C "$out/wrapper" >&2
    built_watched "$out/wrapper"
    watched_here
    PATH=$bin:$PATH
    meson setup -Dwatched=enabled "$out/flags" ../project >&2
    ninja -C "$out/flags" >&2
    built_watched "$out/flags"
    run meson test -C "$out/flags" --print-errorlogs
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"account_deposit() is not atomic: an update of balance was lost"* ]]
    meson setup "$out/plain" ../project >&2
    ninja -C "$out/plain" >&2
    [[ $(nm "$out/plain/bank") != *tsan* ]]
}
