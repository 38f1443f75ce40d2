/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides by name whether functions are meant to be atomic (function_names.c). Each function is
 * decided once; the result is in a table that is read without a lock, and so is not a
 * base/hashtable.h.
 *
 * The command has already checked the specification: lines of "atomic PATTERN" or "not-atomic
 * PATTERN", nothing else. A function without a rule is atomic unless it is main, a thread's start
 * function (except with @threads), or part of the standard library; waits for a condition, a
 * barrier or a thread; or returns holding different locks than on entry.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash_mix.h"
#include "runtime/core/function_names.h"
#include "runtime/core/functions.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/thread.h"
#include "runtime/spool/spool_writer.h"
#include "spec/glob.h"

#define FUNCTIONS (1u << 20)
#define LABELS    4096u
#define RULES     4096u
#define STARTS    1024u /* start functions of threads; further ones are recognised when they run */

struct rule {
    const char *pattern;
    bool atomic, matched;
};

/* The code of a thread's start function. Functions are identified by an address inside them. */
struct start {
    uintptr_t low, high;
};

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock;
    _Atomic uint32_t *table;      /* FUNCTIONS entries, by address: the row; 0: none */
    struct tms_rt_function *rows; /* from 1 on; compact, because they are read often */
    uint32_t function_count;
    struct rule rules[RULES];
    uint32_t rule_count;
    bool says_atomic; /* some rule names what is atomic: then everything else is not */
    struct start starts[STARTS];
    uint32_t start_count;
    struct tms_rt_label labels[LABELS];
    uint32_t label_ids;
    bool functions; /* are blocks by default … */
    bool threads;   /* … including start functions of threads */
} known;

/* ---- rules ------------------------------------------------------------------------------ */

/*
 * The contents of a file, writable, so that its lines can become strings. NULL: it can't be read.
 */
static char *read_text(const char *path)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool there = file >= 0 && fstat(file, &info) == 0;
    char *text = there ? tms_rt_map((size_t)info.st_size + 1) : NULL;

    if (text != NULL && read(file, text, (size_t)info.st_size) != info.st_size) {
        text = NULL;
    }
    if (file >= 0) {
        close(file);
    }
    return text;
}

static bool read_rules(const char *path)
{
    char *text = read_text(path);

    for (char *at = text; at != NULL && *at != '\0' && known.rule_count < RULES;) {
        char *end = strchrnul(at, '\n');
        char *next = *end == '\0' ? end : end + 1;
        bool excluded = strncmp(at, "not-atomic ", 11) == 0;
        *end = '\0';
        if (excluded || strncmp(at, "atomic ", 7) == 0) {
            known.rules[known.rule_count++] =
                (struct rule){.pattern = at + (excluded ? 11 : 7), .atomic = !excluded};
            known.says_atomic = known.says_atomic || !excluded;
        }
        at = next;
    }
    return text != NULL;
}

enum answer { ANSWER_NONE, ANSWER_ATOMIC, ANSWER_NOT_ATOMIC };

static enum answer ask(const char *name)
{
    enum answer answer = known.says_atomic ? ANSWER_NOT_ATOMIC : ANSWER_NONE;

    assert(tms_rt_mutex_is_mine(&known.lock));
    for (uint32_t i = 0; i < known.rule_count; i++) {
        if (tms_glob_names(known.rules[i].pattern, name)) {
            known.rules[i].matched = true;
            answer = known.rules[i].atomic ? ANSWER_ATOMIC : ANSWER_NOT_ATOMIC;
        }
    }
    return answer;
}

/* ---- labels ----------------------------------------------------------------------------- */

static uint32_t new_label(uintptr_t function, const char *name)
{
    size_t length = strlen(name) + 1;
    struct tms_spool_label *record = tms_rt_spool_record(TMS_SPOOL_LABEL, sizeof(*record) + length);

    assert(tms_rt_mutex_is_mine(&known.lock));
    if (record == NULL) {
        return 0;
    }
    record->function = function != 0;
    record->address = function;
    memcpy(record->text, name, length);
    record->id = ++known.label_ids;
    return known.label_ids;
}

/* The label with that name, or the free entry for it; NULL: there is no room. */
static struct tms_rt_label *place_of(const char *name)
{
    size_t at = 0;

    assert(tms_rt_mutex_is_mine(&known.lock));
    for (const char *c = name; *c != '\0'; c++) {
        at = (at ^ (unsigned char)*c) * 0x100000001b3u;
    }
    for (uint32_t tries = 0; tries < LABELS; tries++, at++) {
        struct tms_rt_label *label = &known.labels[at % LABELS];
        if (label->name == NULL || strcmp(label->name, name) == 0) {
            return label;
        }
    }
    return NULL;
}

struct label_search {
    const char *name;
    const struct tms_rt_label *found; /* NULL: there is no room */
};

static void find_label(void *argument)
{
    struct label_search *search = argument;
    const char *name = search->name;

    tms_rt_mutex_lock(&known.lock);
    struct tms_rt_label *label = place_of(name);
    if (label != NULL && label->name == NULL) {
        size_t length = strlen(name) + 1;
        char *copy = tms_resize(&memory, NULL, 0, length, 1);
        if (copy != NULL) {
            memcpy(copy, name, length);
            label->id = ask(name) == ANSWER_NOT_ATOMIC ? 0 : new_label(0, name);
        }
        label->name = copy;
    }
    tms_rt_mutex_unlock(&known.lock);
    search->found = label != NULL && label->name != NULL ? label : NULL;
}

/* The string at an address may change, because the library that contained it may be unloaded. */
uint32_t tms_rt_text_label(struct tms_rt_thread *t, const char *name)
{
    const struct tms_rt_label **last = &t->labels[(uintptr_t)name / 8 % TMS_RT_LABEL_CACHE];

    if (*last == NULL || strcmp((*last)->name, name) != 0) {
        struct label_search search = {.name = name};
        tms_rt_call_deep(find_label, &search);
        *last = search.found;
    }
    assert(*last == NULL || strcmp((*last)->name, name) == 0);
    return *last == NULL ? 0 : (*last)->id;
}

/* ---- functions -------------------------------------------------------------------------- */

/* "void std::__invoke_impl<…>(…)": the part before the first bracket belongs to std. */
static bool is_plumbing(const char *name)
{
    static const char *const spaces[] = {"std::", "__gnu_cxx::", "__cxxabiv1::"};
    size_t head = strcspn(name, "<(");

    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        const char *at = strstr(name, spaces[i]);
        if (at != NULL && (size_t)(at - name) < head && (at == name || at[-1] == ' ')) {
            return true;
        }
    }
    return false;
}

static bool starts_thread(uintptr_t address)
{
    assert(tms_rt_mutex_is_mine(&known.lock) && known.start_count <= STARTS);
    for (uint32_t i = 0; i < known.start_count; i++) {
        if (address - known.starts[i].low < known.starts[i].high - known.starts[i].low) {
            return true;
        }
    }
    return false;
}

static void decide(struct tms_rt_function *function, uintptr_t address)
{
    char name[TMS_RT_NAME_MOST];

    tms_rt_find_name(address, name);
    enum answer answer = ask(name);
    function->plumbing = is_plumbing(name) || TMS_RT_FOREIGN(address);
    function->assumed = answer == ANSWER_NONE;
    atomic_store(&function->coverage, 0);
    function->called = (tms_rt_mode.records || tms_rt_mode.judges) && known.functions &&
                       function->assumed && !function->plumbing;
    function->name = new_label(address, name);
    function->site = tms_rt_bare_site(address);
    function->address = address;
    function->start = 0;
    function->end = UINTPTR_MAX;
    tms_rt_find_code(address, &function->start, &function->end);
    assert(function->start <= address && address <= function->end);
    bool atomic = answer == ANSWER_ATOMIC || (answer == ANSWER_NONE && !function->plumbing &&
                                              strcmp(name, "main") != 0 && !starts_thread(address));
    atomic_store(&function->label, known.functions && atomic ? function->name : 0);
}

/* The row at an index of the table, if it is that of this function. */
static struct tms_rt_function *row_at(size_t at, uintptr_t address, bool *free)
{
    uint32_t row = atomic_load_explicit(&known.table[at % FUNCTIONS], memory_order_acquire);

    assert(row < FUNCTIONS / 2);
    *free = row == 0;
    return row != 0 && known.rows[row].address == address ? &known.rows[row] : NULL;
}

/* The row of all functions that did not fit the table. */
static struct tms_rt_function nothing = {.end = UINTPTR_MAX, .assumed = true};

bool tms_rt_find_data(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
    tms_rt_mutex_lock(&known.lock);
    bool found = tms_rt_find_code(address, start, end);
    tms_rt_mutex_unlock(&known.lock);
    return found;
}

void tms_rt_forget_called(struct tms_rt_thread *thread)
{
    for (size_t i = 0; i < TMS_RT_FUNCTION_CACHE; i++) {
        thread->called.plain[i] = 0;
        thread->called.function[i] = &nothing;
    }
}

struct function_search {
    uintptr_t address;
    size_t at; /* where the search starts or ended */
    struct tms_rt_function *found;
};

/* Adds a function that is not in the table; the search continues from `at`, under the lock. */
static void add_function(void *argument)
{
    struct function_search *search = argument;
    struct tms_rt_function *found;
    size_t at = search->at;
    bool free;

    tms_rt_mutex_lock(&known.lock);
    while ((found = row_at(at, search->address, &free)) == NULL && !free) {
        at++;
    }
    if (found == NULL && known.function_count + 1 < FUNCTIONS / 2) {
        uint32_t row = ++known.function_count;
        found = &known.rows[row];
        decide(found, search->address);
        atomic_store_explicit(&known.table[at % FUNCTIONS], row, memory_order_release);
    }
    tms_rt_mutex_unlock(&known.lock);
    search->found = found != NULL ? found : &nothing;
}

struct tms_rt_function *tms_rt_function(uintptr_t address)
{
    for (size_t at = tms_hash(address);; at++) {
        bool free;
        struct tms_rt_function *found = row_at(at, address, &free);
        if (found != NULL) {
            return found;
        }
        if (free) {
            struct function_search search = {.address = address, .at = at};
            tms_rt_call_deep(add_function, &search);
            return search.found;
        }
    }
}

/* Threads that wait call this repeatedly, so it writes only what changes. */
void tms_rt_function_unfit(struct tms_rt_function *function)
{
    assert(function == &nothing || function->address != 0);
    if (function->assumed && atomic_load_explicit(&function->label, memory_order_relaxed) != 0) {
        atomic_store_explicit(&function->label, 0, memory_order_relaxed);
    }
}

void tms_rt_function_starts(struct tms_rt_function *function)
{
    if (!known.threads) {
        tms_rt_function_unfit(function);
    }
}

/* The preload library knows at least the start of a function without a symbol. */
static struct start start_at(uintptr_t entry)
{
    struct start start = {entry, entry + 2};

    tms_rt_find_code(entry, &start.low, &start.high);
    return start;
}

static void add_start(void *argument)
{
    uintptr_t entry = (uintptr_t)argument;

    tms_rt_mutex_lock(&known.lock);
    if (known.functions && !known.threads && !starts_thread(entry) && known.start_count < STARTS) {
        struct start start = start_at(entry);
        known.starts[known.start_count++] = start;
        for (uint32_t row = 1; row <= known.function_count; row++) {
            if (starts_thread(known.rows[row].address)) {
                tms_rt_function_unfit(&known.rows[row]);
            }
        }
    }
    tms_rt_mutex_unlock(&known.lock);
}

void tms_rt_function_starts_thread(uintptr_t entry)
{
    tms_rt_call_deep(add_start, (void *)entry);
}

static bool make_table(void)
{
    known.table = tms_rt_map(FUNCTIONS * sizeof(*known.table));
    return known.table != NULL;
}

bool tms_rt_functions_start(const char *spec, bool functions, bool threads)
{
    known.functions = functions;
    known.threads = threads;
    known.rows = tms_rt_map(FUNCTIONS / 2 * sizeof(*known.rows));
    if (known.rows == NULL || !make_table()) {
        return false;
    }
    tms_rt_note_modules();
    return spec == NULL || read_rules(spec);
}

bool tms_rt_rules_name_blocks(void)
{
    return known.says_atomic;
}

/*
 * Without the lock: its holder may wait for the dynamic linker, and that for the caller. Rows are
 * only ever added.
 */
uint32_t tms_rt_functions_covered(uint8_t bits)
{
    uint32_t rows = __atomic_load_n(&known.function_count, __ATOMIC_RELAXED), count = 0;

    for (uint32_t row = 1; row <= rows; row++) {
        count +=
            (atomic_load_explicit(&known.rows[row].coverage, memory_order_relaxed) & bits) != 0;
    }
    return count;
}

void tms_rt_functions_finish(void)
{
    tms_rt_note_modules();
    for (uint32_t i = 0; i < known.rule_count; i++) {
        if (!known.rules[i].matched) {
            tms_rt_warn("%s \"%s\" matched no function and no block that ran",
                        known.rules[i].atomic ? "atomic" : "not-atomic", known.rules[i].pattern);
        }
    }
}

/* The same program with another spool: everything that the spool refers to is recorded again. */
bool tms_rt_functions_restart(void)
{
    tms_rt_mutex_restart(&known.lock);
    known.label_ids = 0;
    known.function_count = 0;
    memset(known.labels, 0, sizeof(known.labels));
    tms_rt_names_restart();
    return make_table();
}
