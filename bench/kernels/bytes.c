/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compression: the threads take chunks of a text off a common counter, compress them (LZ77 with a
 * table of recent positions), expand them again, and compare. Byte-wise accesses to private memory.
 */
#include <string.h>

#include "kernel.h"

#define CHUNK      65536u
#define TABLE      4096u
#define LEAST      4u /* bytes that are worth a reference, which takes 4 */
#define MOST       127u
#define ROOM       (2 * CHUNK)
#define REFERENCE  0x80u
#define WORD_COUNT 512u

struct scratch {
    uint32_t table[TABLE];
    unsigned char packed[ROOM], expanded[CHUNK];
};

static unsigned char *text;
static size_t chunks, next_chunk;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t four_bytes(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static size_t match(const unsigned char *one, const unsigned char *other, size_t most)
{
    size_t length = 0;

    while (length < most && one[length] == other[length]) {
        length++;
    }
    return length;
}

/* A byte below 0x80 is literal; otherwise it is a length, and three bytes of distance follow. */
static size_t pack(struct scratch *scratch, const unsigned char *from)
{
    unsigned char *to = scratch->packed;

    memset(scratch->table, 0, sizeof(scratch->table));
    for (size_t at = 0; at < CHUNK;) {
        size_t left = CHUNK - at, length = 0, distance = 0;
        if (left > LEAST) {
            uint32_t *last = &scratch->table[four_bytes(&from[at]) * 2654435761u >> 20];
            distance = at - *last;
            if (distance > 0) {
                length = match(&from[*last], &from[at], left < MOST ? left : MOST);
            }
            *last = (uint32_t)at;
        }
        if (length > LEAST) {
            *to++ = (unsigned char)(REFERENCE | length);
            *to++ = (unsigned char)distance;
            *to++ = (unsigned char)(distance >> 8);
            *to++ = (unsigned char)(distance >> 16);
            at += length;
        } else {
            *to++ = from[at++];
        }
    }
    return (size_t)(to - scratch->packed);
}

static void expand(struct scratch *scratch, size_t packed)
{
    unsigned char *to = scratch->expanded;

    for (const unsigned char *from = scratch->packed; from < scratch->packed + packed;) {
        if (*from < REFERENCE) {
            *to++ = *from++;
            continue;
        }
        size_t length = *from - REFERENCE;
        size_t distance = from[1] | (size_t)from[2] << 8 | (size_t)from[3] << 16;
        for (; length > 0; length--, to++) {
            *to = to[-(ptrdiff_t)distance];
        }
        from += 4;
    }
}

static size_t take_chunk(void)
{
    pthread_mutex_lock(&lock);
    size_t chunk = next_chunk++;
    pthread_mutex_unlock(&lock);
    return chunk;
}

static void *compress(void *argument)
{
    struct part *part = argument;
    struct scratch *scratch = need(1, sizeof(*scratch));

    for (size_t chunk = take_chunk(); chunk < chunks; chunk = take_chunk()) {
        const unsigned char *from = &text[chunk * CHUNK];
        size_t packed = pack(scratch, from);
        expand(scratch, packed);
        if (memcmp(from, scratch->expanded, CHUNK) != 0) {
            fputs("bytes: not the same again\n", stderr);
            exit(1);
        }
        part->sum += mix(chunk) * packed;
    }
    free(scratch);
    return NULL;
}

/* Words out of a small dictionary. */
static void write_text(size_t size)
{
    uint64_t state = 1;

    for (size_t at = 0; at < size;) {
        uint64_t word = mix(next_random(&state) % WORD_COUNT);
        for (unsigned i = 0; i < 2 + word % 9 && at < size; i++) {
            text[at++] = (unsigned char)('a' + (word >> 5 * i) % 26);
        }
        if (at < size) {
            text[at++] = ' ';
        }
    }
}

int main(int argc, char **argv)
{
    chunks = size_argument(argc, argv, 200);
    text = need(chunks, CHUNK);
    write_text(chunks * CHUNK);
    return print_sum(run_parts(compress, chunks));
}
