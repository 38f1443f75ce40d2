#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The symbols of the runtime's archive: what it exports, and what it does not.
# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    runtime=$TMESIS_BUILD/runtime
    root=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR" || return
}

# exported: the names in the list that executables are linked with.
exported() {
    sed -nE 's/^ +"(\w+)";$/\1/p' "$runtime/exports.list" | LC_ALL=C sort
}

# all_in LIST: every name on standard input is in it.
all_in() {
    run comm -23 <(LC_ALL=C sort -u) "$1"
    echo "missing: $output"
    [ -z "$output" ]
}

# Everything a compiler has a hook for.
write_program() {
    cat >all.c <<'END'
#include <stdatomic.h>
#define ALL(type, name)                                                                            \
    static _Atomic type name;                                                                      \
    void all_##name(type v, type *old)                                                             \
    {                                                                                              \
        atomic_store(&name, atomic_load(&name));                                                   \
        *old = atomic_exchange(&name, v) + atomic_fetch_add(&name, v) + atomic_fetch_sub(&name, v) + \
             atomic_fetch_and(&name, v) + atomic_fetch_or(&name, v) + atomic_fetch_xor(&name, v) + \
             __atomic_fetch_nand((type *)&name, v, 5);                                             \
        atomic_compare_exchange_strong(&name, old, v);                                             \
        atomic_compare_exchange_weak(&name, old, v);                                               \
    }                                                                                              \
    type plain_##name;                                                                             \
    volatile type volatile_##name;                                                                 \
    void plain_##name##_access(void)                                                               \
    {                                                                                              \
        plain_##name++;                                                                            \
        volatile_##name++;                                                                         \
        packed.name++;                                                                             \
    }
struct __attribute__((packed)) {
    char a, first;
    short b;
    int c;
    long d;
    __int128 e;
} packed;
ALL(char, a) ALL(short, b) ALL(int, c) ALL(long, d) ALL(__int128, e)
typedef struct { long words[3]; } wide;
static _Atomic wide whole;
wide plain;
void exchange(wide value, wide *old)
{
    *old = whole;
    whole = value;
    plain = atomic_exchange(&whole, value);
    atomic_compare_exchange_strong(&whole, old, value);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_seq_cst);
}
END
    cat >all.cc <<'END'
struct base { virtual ~base(); virtual int call(); int member; };
struct derived : base { ~derived(); int call() override; };
base::~base() {}
derived::~derived() { member = call(); }
int use(base *object) { try { return object->call(); } catch (int) { return 1; } }
END
}

@test "every call that gcc and clang make is there" {
    write_program
    exported >names
    for level in -O0 -O2; do
        gcc -w -fsanitize=thread $level -c all.c -o "gcc$level.o"
        gcc -w -fsanitize=thread $level --param tsan-distinguish-volatile=1 -c all.c -o "gcc-v$level.o"
        g++ -w -fsanitize=thread $level -c all.cc -o "g++$level.o"
        clang -w -fsanitize=thread $level -c all.c -o "clang$level.o"
        clang -w -fsanitize=thread $level -mcx16 -mllvm -tsan-distinguish-volatile \
            -mllvm -tsan-compound-read-before-write -c all.c -o "clang-v$level.o"
        clang++ -w -fsanitize=thread $level -c all.cc -o "clang++$level.o"
    done
    nm -u ./*.o | awk '/ (__tsan|__atomic)_/ {print $2}' | grep -v feraiseexcept >called
    [ "$(sort -u called | wc -l)" -gt 90 ]
    all_in names <called
}

@test "every function of annotate.h and of the sanitizer's public header is there" {
    exported >names
    grep -oP 'TMESIS_RUNTIME void \Ktmesis_\w+' "$root/include/tmesis/annotate.h" >declared
    [ "$(wc -l <declared)" -gt 15 ]
    all_in names <declared
    # What the program itself defines aside.
    echo '#include <sanitizer/tsan_interface.h>' | gcc -E -P - |
        grep -oP '\b__tsan_\w+(?=\()' | grep -v '__tsan_on_' | all_in names
}

@test "nothing else has a name outside, and nothing is missing inside" {
    nm -g --defined-only "$runtime/libtmesis-rt.a" | awk 'NF == 3 && $2 ~ /[TW]/ {print $3}' |
        LC_ALL=C sort >defined
    diff defined <(exported)
    run nm -u "$runtime/libtmesis-rt.a"
    [[ $output != *' tms_'* && $output != *san_* ]]
}

# objects ARCHIVE: each global name that is defined there, with the source file.
objects() {
    nm -A --defined-only "$1" | sed -nE 's|^.*[:/]([^:/]+)\.o:[0-9a-f]+ [A-TV-Z] (\w+)$|\2 \1|p' |
        sed 's/ \.\._src_/ /' | LC_ALL=C sort
}

@test "library and runtime have names in common only where they share the source file" {
    LC_ALL=C join <(objects "$runtime/../src/libtmesis.a") \
        <(objects "$runtime/libtmesis-rt-parts.a") >both
    grep '^tms_frontier_add_edge ' both
    [ "$(wc -l <both)" -gt 50 ]
    run awk '$2 != $3' both
    echo "$output"
    [ -z "$output" ]
}

@test "the runtime uses neither the program's heap nor its streams" {
    nm -A -u "$runtime/libtmesis-rt-parts.a" | sed -nE 's|^.*[:/]([^:/]+)\.o: +U (\w+)$|\1 \2|p' |
        grep -E ' (malloc|calloc|realloc|free|posix_memalign|strn?dup|v?f?printf|f?puts|f(open|close|write|read|flush)|stdin|stdout|stderr)$' |
        LC_ALL=C sort >used
    # strdup gives its copy to the program; memory.c calls the C library where no allocator is given.
    diff used - <<'END'
.._src_base_memory.c calloc
.._src_base_memory.c free
.._src_base_memory.c realloc
intercept_string_intercept.c malloc
END
}

@test "annotations do nothing without the runtime, in C and in C++" {
    cat >program.c <<'END'
#include <stdio.h>
#include <tmesis/annotate.h>
#include <tmesis/valgrind.h>
static int word;
static int half(int number)
{
    TMESIS_ATOMIC("outer");
    ANNOTATE_RWLOCK_ACQUIRED(&word, 1);
    if (number % 2 != 0) {
        TMESIS_ATOMIC("inner");
        return -1;
    }
    ANNOTATE_RWLOCK_RELEASED(&word, 1);
    return number / 2;
}
int main(void)
{
    tmesis_name_thread("main");
    tmesis_begin("block");
    printf("%d %d\n", half(4), half(5));
    tmesis_end();
    return 0;
}
END
    flags=(-Wall -Wextra -Wpedantic -Wshadow -Werror -I"$root/include")
    for compiler in 'gcc -std=c11' 'clang -std=c11' 'g++ -std=c++11 -xc++' 'clang++ -std=c++11 -xc++'; do
        for more in -O0 -O2 '-O2 -fno-pie -no-pie' -DTMESIS_OFF; do
            echo "$compiler $more"
            # shellcheck disable=SC2086 # words
            $compiler "${flags[@]}" $more program.c -o program
            [ "$(./program)" = "2 -1" ]
        done
    done
}

@test "names that the program gives are those of the report" {
    cat >named.c <<'END'
#include <pthread.h>
#include <tmesis/annotate.h>
#include <unistd.h>
static volatile int number;
static int there[2], back[2];
static void *other(void *unused)
{
    char byte;
    tmesis_name_thread("other");
    if (read(there[0], &byte, 1) == 1)
        number = 2;
    return write(back[1], "", 1) == 1 ? unused : other;
}
int main(void)
{
    char byte;
    pthread_t thread;
    if (pipe(there) != 0 || pipe(back) != 0 || pthread_create(&thread, 0, other, 0) != 0)
        return 1;
    tmesis_name_memory((const void *)&number, "the number");
    tmesis_begin("block");
    number = 1;
    if (write(there[1], "", 1) != 1 || read(back[0], &byte, 1) != 1)
        return 1;
    number = 3;
    tmesis_end();
    return pthread_join(thread, 0);
}
END
    "$tmesis" cc -g -I"$root/include" named.c -o named
    tms run --atomic=@annotations --notes ./named
    [ "$status" -eq 0 ] # they hand over what they write
    [[ $flat == *'the number'* ]]
    tms run --atomic=@annotations --strict --engine=frontier,sidetrack ./named
    [ "$status" -eq 66 ]
    [[ $flat == *"main's block was cut apart"* ]]
    [[ $flat == *"main wrote the number"*"before other wrote it"* ]]
}
