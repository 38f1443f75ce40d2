/* SPDX-License-Identifier: Apache-2.0 */
/* Maps addresses to files, and caches answers; see symbols.h. */
#include "symbol/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashtable.h"
#include "symbol/assigned.h"
#include "symbol/module.h"
#include "symbol/spelling.h"
#include "symbol/symbol_text.h"

#define FRAMES_MOST 32 /* functions inlined into each other */

struct answer {
    uint64_t pc;
    const struct tms_frame *frames;
    size_t count;
};

struct tms_symbols {
    struct tms_symbol_texts texts;
    struct tms_module *modules;
    size_t module_count, module_capacity;
    struct answer *answers;
    size_t answer_count, answer_capacity;
    struct tms_hashtable index; /* of the answers, by pc: 1 + place */
};

struct tms_symbols *tms_symbols_new(void)
{
    struct tms_symbols *symbols = calloc(1, sizeof(*symbols));

    if (symbols != NULL) {
        tms_symbol_texts_open(&symbols->texts);
    }
    return symbols;
}

static void drop_frames(const struct tms_frame *frames)
{
    void *block;

    memcpy(&block, &frames, sizeof(block)); /* casts away const: the block is ours */
    free(block);
}

void tms_symbols_free(struct tms_symbols *symbols)
{
    if (symbols == NULL) {
        return;
    }
    for (size_t i = 0; i < symbols->answer_count; i++) {
        drop_frames(symbols->answers[i].frames);
    }
    for (size_t i = 0; i < symbols->module_count; i++) {
        tms_module_close(&symbols->modules[i]);
    }
    tms_symbol_texts_close(&symbols->texts);
    free(symbols->answers);
    tms_hashtable_clear(&symbols->index, NULL);
    free(symbols->modules);
    free(symbols);
}

bool tms_symbols_module(struct tms_symbols *symbols, const char *path, uint64_t start, uint64_t end,
                        uint64_t bias)
{
    if (!TMS_RESERVE(NULL, &symbols->modules, &symbols->module_capacity, symbols->module_count + 1,
                     16)) {
        return false;
    }
    struct tms_module module = {.path = strdup(path),
                                .start = start,
                                .end = end,
                                .bias = bias,
                                .types.texts = &symbols->texts};
    if (module.path == NULL) {
        return false;
    }
    symbols->modules[symbols->module_count++] = module;
    return true;
}

static struct tms_module *find_module(struct tms_symbols *symbols, uint64_t address)
{
    for (size_t i = symbols->module_count; i-- > 0;) {
        struct tms_module *module = &symbols->modules[i];
        if (address >= module->start && address < module->end) {
            return module;
        }
    }
    return NULL;
}

/* ---- functions -------------------------------------------------------------------------- */

/* A frame whose function is unknown. */
static struct tms_frame bare_frame(struct tms_symbols *symbols, const struct tms_module *module,
                                   uint64_t pc)
{
    char text[320];

    if (module != NULL) {
        snprintf(text, sizeof(text), "%.255s+0x%" PRIx64, tms_module_name(module),
                 pc - module->bias);
    } else {
        snprintf(text, sizeof(text), "0x%" PRIx64, pc);
    }
    return (struct tms_frame){.function = tms_symbol_texts_keep(&symbols->texts, text),
                              .bare = true};
}

static bool is_below(const char *path, const char *const *directories, size_t count)
{
    for (size_t i = 0; path != NULL && i < count; i++) {
        if (strncmp(path, directories[i], strlen(directories[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_library(const struct tms_module *module)
{
    static const char *const libraries[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

    return is_below(module != NULL ? module->path : NULL, libraries, 4);
}

/* Code of the system's libraries, or inlined from its headers. */
static bool is_foreign(const struct tms_module *module, const struct tms_frame *frame)
{
    static const char *const headers[] = {"/usr/include/", "/usr/lib/"};

    return is_library(module) || is_below(frame->file, headers, 2);
}

bool tms_symbols_foreign(struct tms_symbols *symbols, uint64_t pc)
{
    return is_library(find_module(symbols, pc));
}

static size_t ask_for_frames(struct tms_symbols *symbols, struct tms_module *module, uint64_t pc,
                             struct tms_frame *frames)
{
    jmp_buf escape;

    if (setjmp(escape) != 0) {
        tms_module_give_up(module);
        return 0;
    }
    tms_module_escape = &escape;
    /*
     * Looks up the call, which precedes the return address; that may even be in another function.
     */
    return tms_module_frames(module, &symbols->texts, pc - module->bias - 1, frames, FRAMES_MOST);
}

static void spell(struct tms_symbols *symbols, struct tms_frame *frame)
{
    const char *spelt =
        frame->bare ? NULL : tms_spelling_function(&symbols->texts, frame->function);

    frame->function = spelt != NULL ? spelt : frame->function;
    frame->brief = spelt != NULL ? tms_spelling_brief(&symbols->texts, spelt) : NULL;
}

static size_t find_frames(struct tms_symbols *symbols, uint64_t pc, struct tms_frame *frames)
{
    struct tms_module *module = find_module(symbols, pc);
    size_t count = module != NULL ? ask_for_frames(symbols, module, pc, frames) : 0;

    if (count == 0) {
        frames[0] = bare_frame(symbols, module, pc);
        count = frames[0].function != NULL;
    }
    for (size_t i = 0; i < count; i++) {
        frames[i].foreign = is_foreign(module, &frames[i]);
        frames[i].object = module != NULL ? module->path : NULL;
        spell(symbols, &frames[i]);
    }
    return count;
}

/* NULL if the address is asked for the first time. */
static const struct answer *find_answer(const struct tms_symbols *symbols, uint64_t pc)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&symbols->index, tms_hash(pc), &walk);

    while (found != 0 && symbols->answers[found - 1].pc != pc) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &symbols->answers[found - 1] : NULL;
}

/* Keeps a copy of the frames, one at least; NULL if out of memory. */
static const struct answer *keep_answer(struct tms_symbols *symbols, uint64_t pc,
                                        const struct tms_frame *frames, size_t count)
{
    size_t next = symbols->answer_count + 1;
    struct tms_frame *copy = malloc(count * sizeof(*copy));

    if (copy == NULL ||
        !TMS_RESERVE(NULL, &symbols->answers, &symbols->answer_capacity, next, 64) ||
        !tms_hashtable_add(&symbols->index, NULL, tms_hash(pc), (uint32_t)next)) {
        free(copy);
        return NULL;
    }
    memcpy(copy, frames, count * sizeof(*copy));
    symbols->answers[symbols->answer_count++] =
        (struct answer){.pc = pc, .frames = copy, .count = count};
    return &symbols->answers[symbols->answer_count - 1];
}

size_t tms_symbols_frames(struct tms_symbols *symbols, uint64_t pc, const struct tms_frame **frames)
{
    struct tms_frame found[FRAMES_MOST] = {{0}};
    const struct answer *answer = find_answer(symbols, pc);

    if (answer == NULL) {
        size_t count = find_frames(symbols, pc, found);
        answer = count > 0 ? keep_answer(symbols, pc, found, count) : NULL;
    }
    *frames = answer != NULL ? answer->frames : NULL;
    return answer != NULL ? answer->count : 0;
}

static bool ask_for_datum(struct tms_symbols *symbols, struct tms_module *module, uint64_t address,
                          struct tms_datum *datum)
{
    jmp_buf escape;

    if (setjmp(escape) != 0) {
        tms_module_give_up(module);
        return false;
    }
    tms_module_escape = &escape;
    return tms_module_datum(module, &symbols->texts, address - module->bias, datum);
}

bool tms_symbols_datum(struct tms_symbols *symbols, uint64_t address, struct tms_datum *datum)
{
    struct tms_module *module = find_module(symbols, address);

    if (module == NULL || !ask_for_datum(symbols, module, address, datum)) {
        return false;
    }
    datum->home += module->bias;
    return true;
}

void tms_symbols_assigned(struct tms_symbols *symbols, uint64_t pc, size_t index,
                          const char *callee, uint64_t size, struct tms_assigned *assigned)
{
    struct tms_module *module = find_module(symbols, pc);
    const struct tms_frame *frames;
    jmp_buf escape;

    *assigned = (struct tms_assigned){0};
    if (module == NULL || tms_symbols_frames(symbols, pc, &frames) <= index) {
        return;
    }
    if (setjmp(escape) != 0) {
        tms_module_give_up(module);
        return;
    }
    tms_module_escape = &escape;
    tms_module_assigned(module, &symbols->texts, pc - module->bias - 1, index, &frames[index],
                        callee, size, assigned);
}

const char *tms_symbols_module_at(struct tms_symbols *symbols, uint64_t address, uint64_t *offset)
{
    const struct tms_module *module = find_module(symbols, address);

    *offset = module != NULL ? address - module->bias : 0;
    return module != NULL ? tms_module_name(module) : NULL;
}
