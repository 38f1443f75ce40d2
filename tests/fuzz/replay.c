/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: every file of a corpus as it is, and then mutated.
 *
 *     replay-FORMAT DIRECTORY MUTATIONS SEED LAST
 *
 * The mutations of a file depend on SEED and the corpus only. The input under test is kept in
 * the file LAST, so that after a crash it is there to look at. Prints TAP.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/target.h"

#define FILES_MOST   256
#define BYTES_MOST   (64 * 1024)
#define SECONDS_MOST 20 /* per input: more is a hang */
#define CHANGES_MOST 4

struct input {
    char name[256];
    uint8_t *bytes;
    size_t size;
};

struct corpus {
    struct input inputs[FILES_MOST];
    size_t count;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* splitmix64: any seed is good, and the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 … bound - 1, or 0 if bound is 0. */
static size_t below(uint64_t *state, size_t bound)
{
    return bound == 0 ? 0 : (size_t)(next_random(state) % bound);
}

/* ---- changes: each takes and leaves an input of at most BYTES_MOST ------------------------ */

typedef void change(struct input *input, const struct input *other, uint64_t *state);

static void flip_bit(struct input *input, const struct input *other, uint64_t *state)
{
    if (input->size > 0) {
        input->bytes[below(state, input->size)] ^= (uint8_t)(1u << below(state, 8));
    }
}

static void set_byte(struct input *input, const struct input *other, uint64_t *state)
{
    static const uint8_t telling[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '\r', '|', '(', ')', ' ', '#'};

    if (input->size > 0) {
        input->bytes[below(state, input->size)] = telling[below(state, sizeof(telling))];
    }
}

static void cut_off(struct input *input, const struct input *other, uint64_t *state)
{
    input->size = below(state, input->size + 1);
}

static void cut_out(struct input *input, const struct input *other, uint64_t *state)
{
    size_t from = below(state, input->size);
    size_t length = below(state, input->size - from + 1);

    memmove(input->bytes + from, input->bytes + from + length, input->size - from - length);
    input->size -= length;
}

/* Puts a piece of the other input, or of this one, at some place. */
static void splice(struct input *input, const struct input *other, uint64_t *state)
{
    size_t at = below(state, input->size + 1);
    size_t from = below(state, other->size);
    size_t length = below(state, other->size - from + 1);

    if (input->size + length <= BYTES_MOST) {
        memmove(input->bytes + at + length, input->bytes + at, input->size - at);
        memcpy(input->bytes + at, other->bytes + from, length);
        input->size += length;
    }
}

/* The head of this one and the tail of the other. */
static void cross(struct input *input, const struct input *other, uint64_t *state)
{
    size_t at = below(state, input->size + 1);
    size_t from = below(state, other->size);
    size_t length = other->size - from;

    if (at + length <= BYTES_MOST) {
        memcpy(input->bytes + at, other->bytes + from, length);
        input->size = at + length;
    }
}

static void mutate(struct input *input, const struct corpus *corpus, uint64_t *state)
{
    static change *const changes[] = {flip_bit, set_byte, cut_off, cut_out, splice, cross};

    for (size_t left = 1 + below(state, CHANGES_MOST); left > 0; left--) {
        const struct input *other = &corpus->inputs[below(state, corpus->count)];
        changes[below(state, sizeof(changes) / sizeof(changes[0]))](input, other, state);
    }
}

/* ---- the corpus --------------------------------------------------------------------------- */

static void load(struct corpus *corpus, const char *directory, const char *name)
{
    struct input *input = &corpus->inputs[corpus->count++];
    char path[4096];

    snprintf(input->name, sizeof(input->name), "%s", name);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    input->bytes = malloc(BYTES_MOST);
    if (file == NULL || input->bytes == NULL) {
        die(path);
    }
    input->size = fread(input->bytes, 1, BYTES_MOST, file);
    fclose(file);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void load_all(struct corpus *corpus, const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, visible, alphasort);

    if (count < 1 || count > FILES_MOST) {
        die(directory);
    }
    for (int i = 0; i < count; i++) {
        load(corpus, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- runs --------------------------------------------------------------------------------- */

static void run(const struct input *input, FILE *last)
{
    rewind(last);
    if (ftruncate(fileno(last), 0) != 0 ||
        fwrite(input->bytes, 1, input->size, last) != input->size || fflush(last) != 0) {
        die("the file for the last input");
    }
    alarm(SECONDS_MOST);
    LLVMFuzzerTestOneInput(input->bytes, input->size);
    alarm(0);
}

static void run_mutated(const struct corpus *corpus, const struct input *original,
                        uint64_t mutations, uint64_t seed, FILE *last)
{
    struct input input = {.bytes = malloc(BYTES_MOST)};

    if (input.bytes == NULL) {
        die("malloc");
    }
    for (uint64_t i = 0; i < mutations; i++) {
        memcpy(input.bytes, original->bytes, original->size);
        input.size = original->size;
        mutate(&input, corpus, &seed);
        run(&input, last);
    }
    free(input.bytes);
}

int main(int count, char **words)
{
    static struct corpus corpus;

    if (count != 5) {
        fprintf(stderr, "usage: %s DIRECTORY MUTATIONS SEED LAST\n", words[0]);
        return 2;
    }
    uint64_t mutations = strtoull(words[2], NULL, 10);
    uint64_t seed = strtoull(words[3], NULL, 10);
    FILE *last = fopen(words[4], "wb");
    if (last == NULL) {
        die(words[4]);
    }
    load_all(&corpus, words[1]);
    printf("1..%zu\n", corpus.count);
    for (size_t i = 0; i < corpus.count; i++) {
        run(&corpus.inputs[i], last);
        run_mutated(&corpus, &corpus.inputs[i], mutations, seed + i, last);
        printf("ok %zu - %s and %" PRIu64 " mutations of it\n", i + 1, corpus.inputs[i].name,
               mutations);
        fflush(stdout);
    }
    for (size_t i = 0; i < corpus.count; i++) {
        free(corpus.inputs[i].bytes);
    }
    fclose(last);
    remove(words[4]);
    return 0;
}
