/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conflicts are between bytes, not words or accesses. Neighbouring bytes don't conflict,
 * overlapping ones do, however they were read or written.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "scene.h"

struct half {
    char text[32];
};

/* Not static, so that the compiler can't assume that it is unused. */
union memory {
    unsigned char bytes[64];
    uint64_t word;
    __extension__ unsigned __int128 wide;
    struct half half;
    _Atomic uint8_t atomic1;
    _Atomic uint16_t atomic2;
    _Atomic uint32_t atomic4;
    _Atomic uint64_t atomic8;
};
extern union memory memory;
union memory memory;

/* Not shared: each thread has its own. */
extern __thread struct half other;
__thread struct half other;
extern __thread volatile uint64_t sink;
__thread volatile uint64_t sink;
/* The compiler does not know: a call of the C library remains one. */
static volatile size_t all = 24;
static const char *volatile seven = "seven..";

extern struct bits {
    unsigned low : 3, high : 3;
} bits;
struct bits bits;

/* A number of four bytes at any address. */
struct __attribute__((packed)) anywhere {
    uint32_t number;
};

#define DO(name, what)                                                                             \
    __attribute__((unused)) static void name(void)                                                 \
    {                                                                                              \
        what;                                                                                      \
    }
#define BYTE(n)                                                                                    \
    DO(read_##n, sink = memory.bytes[n])                                                           \
    DO(write_##n, memory.bytes[n] = n)

BYTE(0)
BYTE(1)
BYTE(5)
BYTE(7)
BYTE(8)
BYTE(15)
BYTE(16)
BYTE(31)
BYTE(32)

DO(read_word, sink = memory.word)
DO(write_word, memory.word = 1)
DO(write_wide, memory.wide = 1)
DO(write_1_to_4, ((struct anywhere *)&memory.bytes[1])->number = 1)
DO(read_5_to_8, sink = ((struct anywhere *)&memory.bytes[5])->number)
DO(set_8_to_31, memset(&memory.bytes[8], 1, all))
DO(copy_from_8, memcpy(&other, &memory.bytes[8], all))
DO(copy_to_8, memcpy(&memory.bytes[8], &other, all))
DO(move_to_8, memmove(&memory.bytes[8], &other, all))
DO(assign_half, memory.half = other)
DO(measure, sink = strlen(memory.half.text))   /* reads byte 0, which is zero */
DO(copy_text, stpcpy(memory.half.text, seven)) /* bytes 0 to 7 */
DO(write_low, bits.low = 1)
DO(write_high, bits.high = 1)
DO(load_1, sink = atomic_load(&memory.atomic1))
DO(load_8, sink = atomic_load(&memory.atomic8))
DO(store_2, atomic_store(&memory.atomic2, 1))
DO(add_1, atomic_fetch_add(&memory.atomic1, 1))
DO(add_2, atomic_fetch_add(&memory.atomic2, 1))
DO(or_4, atomic_fetch_or(&memory.atomic4, 1))
DO(exchange_8, atomic_exchange(&memory.atomic8, 1))

/* A compare-and-swap that fails reads; one that succeeds writes as well. */
static void swap_fails(void)
{
    uint32_t expected = 99;

    atomic_compare_exchange_strong(&memory.atomic4, &expected, 1);
}

static void swap_succeeds(void)
{
    uint32_t expected = 0;

    atomic_compare_exchange_strong(&memory.atomic4, &expected, 0);
}

static struct scene scenes[] = {
    /* neighbours, and reads among themselves */
    {"next-byte", write_0, write_1, NULL},
    {"next-word", write_word, write_8, NULL},
    {"after-wide", write_wide, write_16, NULL},
    {"after-unaligned", write_1_to_4, write_5, NULL},
    {"before-unaligned", write_1_to_4, write_0, NULL},
    {"unaligned-neighbours", write_1_to_4, read_5_to_8, NULL},
    {"after-set", set_8_to_31, write_32, NULL},
    {"before-set", set_8_to_31, write_7, NULL},
    {"after-copy", copy_from_8, write_32, NULL},
    {"after-struct", assign_half, write_32, NULL},
    {"after-text", copy_text, write_8, NULL},
    {"after-measured", measure, write_1, NULL},
    {"after-atomic-1", add_1, write_1, NULL},
    {"after-atomic-8", exchange_8, write_8, NULL},
    {"reads", read_word, read_7, NULL},
    {"range-reads", copy_from_8, read_31, NULL},
    {"atomic-reads", load_8, load_1, NULL},
    {"failed-swaps", swap_fails, load_8, NULL},
    /* overlaps */
    {"same-byte", write_0, write_0, NULL},
    {"read-write", read_0, write_0, NULL},
    {"write-read", write_0, read_0, NULL},
    {"byte-in-word", read_word, write_7, NULL},
    {"word-over-byte", read_5, write_word, NULL},
    {"byte-in-wide", write_wide, read_15, NULL},
    {"byte-in-unaligned", write_1_to_4, read_1, NULL},
    {"unaligned-over-words", read_5_to_8, write_8, NULL},
    {"unaligned-in-word", write_1_to_4, read_word, NULL},
    {"byte-in-set", set_8_to_31, read_31, NULL},
    {"byte-in-copied", copy_from_8, write_16, NULL},
    {"byte-in-copy", copy_to_8, read_8, NULL},
    {"byte-in-moved", move_to_8, read_15, NULL},
    {"byte-in-struct", assign_half, read_31, NULL},
    {"end-of-text", copy_text, read_7, NULL},
    {"measured", measure, write_0, NULL},
    {"bits-of-a-byte", write_low, write_high, NULL},
    {"atomic-1", add_1, load_1, NULL},
    {"atomic-2", add_2, store_2, NULL},
    {"atomic-4", or_4, read_word, NULL},
    {"atomic-8", exchange_8, write_7, NULL},
    {"load-store", load_8, store_2, NULL},
    {"check-then-act", load_8, add_1, add_1},
    {"swaps", swap_succeeds, load_8, NULL},
};

int main(int argc, char **argv)
{
    return SCENE_PLAY(scenes, argc, argv);
}
