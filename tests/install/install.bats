#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `make install` puts down is enough: the example is built against it, by pkg-config alone.

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

@test "the header is the only one installed" {
    run find "$TREE" -name '*.h' -printf '%P\n'
    [ "${#lines[@]}" -eq 1 ]
    [[ ${lines[0]} == */include/tmesis/tmesis.h ]]
}

@test "every manual page is installed" {
    for page in "$BATS_TEST_DIRNAME"/../../docs/man/*.scd; do
        [ -e "$page" ] || continue
        find "$TREE" -path "*/man/man?/$(basename "$page" .scd)" | grep -q .
    done
}
