/* SPDX-License-Identifier: Apache-2.0 */
/* Which file an address belongs to, and the answers given so far; see symbols.h. */
#include "symbol/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/assigned.h"
#include "symbol/module.h"
#include "symbol/spelling.h"
#include "symbol/symbol_text.h"

#define FRAMES_MOST 32 /* functions inlined into each other */

struct answer {
    uint64_t pc;
    const struct tms_frame *frames; /* NULL: the place is free */
    size_t count;
};

struct tms_symbols {
    struct tms_symbol_texts texts;
    struct tms_module *modules;
    size_t module_count, module_capacity;
    struct answer *answers; /* open-addressed by pc, at most half full */
    size_t answer_count, answer_size;
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

    memcpy(&block, &frames, sizeof(block)); /* ours; the view that is handed out is const */
    free(block);
}

void tms_symbols_free(struct tms_symbols *symbols)
{
    if (symbols == NULL) {
        return;
    }
    for (size_t i = 0; i < symbols->answer_size; i++) {
        drop_frames(symbols->answers[i].frames);
    }
    for (size_t i = 0; i < symbols->module_count; i++) {
        tms_module_close(&symbols->modules[i]);
    }
    tms_symbol_texts_close(&symbols->texts);
    free(symbols->answers);
    free(symbols->modules);
    free(symbols);
}

bool tms_symbols_module(struct tms_symbols *symbols, const char *path, uint64_t start, uint64_t end,
                        uint64_t bias)
{
    if (symbols->module_count == symbols->module_capacity) {
        size_t capacity = symbols->module_capacity == 0 ? 16 : 2 * symbols->module_capacity;
        struct tms_module *grown = realloc(symbols->modules, capacity * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        symbols->modules = grown;
        symbols->module_capacity = capacity;
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
    /* The call is before the place that it returns to, which may even be another function. */
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

static struct answer *place_of(struct answer *answers, size_t size, uint64_t pc)
{
    size_t at = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (size - 1);

    while (answers[at].frames != NULL && answers[at].pc != pc) {
        at = (at + 1) & (size - 1);
    }
    return &answers[at];
}

static bool make_room(struct tms_symbols *symbols)
{
    size_t size = symbols->answer_size == 0 ? 256 : 2 * symbols->answer_size;

    if (2 * (symbols->answer_count + 1) <= symbols->answer_size) {
        return true;
    }
    struct answer *answers = calloc(size, sizeof(*answers));
    if (answers == NULL) {
        return false;
    }
    for (size_t i = 0; i < symbols->answer_size; i++) {
        if (symbols->answers[i].frames != NULL) {
            *place_of(answers, size, symbols->answers[i].pc) = symbols->answers[i];
        }
    }
    free(symbols->answers);
    symbols->answers = answers;
    symbols->answer_size = size;
    return true;
}

size_t tms_symbols_frames(struct tms_symbols *symbols, uint64_t pc, const struct tms_frame **frames)
{
    struct tms_frame found[FRAMES_MOST] = {{0}};

    *frames = NULL;
    if (!make_room(symbols)) {
        return 0;
    }
    struct answer *answer = place_of(symbols->answers, symbols->answer_size, pc);
    if (answer->frames == NULL) {
        size_t count = find_frames(symbols, pc, found);
        struct tms_frame *copy = count > 0 ? malloc(count * sizeof(*copy)) : NULL;
        if (copy == NULL) {
            return 0;
        }
        memcpy(copy, found, count * sizeof(*copy));
        *answer = (struct answer){.pc = pc, .frames = copy, .count = count};
        symbols->answer_count++;
    }
    *frames = answer->frames;
    return answer->count;
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
