/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions: their names, from the symbol tables of the files that the process has loaded, and
 * whether they are meant to be atomic. Asked once per function; then a table knows.
 *
 * The specification comes from the command, which has checked it: lines of "atomic PATTERN" or
 * "not-atomic PATTERN", nothing else. Without a rule for it a function is atomic unless it is
 * main, begins a thread, is part of the standard library, waits for a condition, a barrier or a
 * thread, or returns with other locks than it was called with.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "memory.h"
#include "spec/glob.h"
#include "thread.h"

#define FUNCTIONS (1u << 20)
#define LABELS    4096u
#define RULES     4096u
#define MODULES   512u
#define NAME_MOST 1000u
#define SCRATCH   (1u << 20)

char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status)
    __attribute__((weak));

struct symbol {
    uintptr_t start, end;
    const char *name;
};

struct module {
    uintptr_t start, end, bias;
    struct symbol *symbols; /* by start */
    size_t count, capacity;
    bool looked; /* for symbols */
    bool spooled;
    char path[256];
};

struct rule {
    const char *pattern;
    bool atomic, matched;
};

struct text_label {
    const char *name;
    uint32_t id; /* 0: not meant to be atomic */
};

static struct {
    struct tms_rt_mutex lock;
    struct tms_memory memory;
    _Atomic uint32_t *table; /* FUNCTIONS of them, by address: the row, 0 if there is none */
    struct tms_rt_function *rows; /* from 1 on; close together, for they are looked at often */
    uint32_t function_count;
    struct module modules[MODULES];
    uint32_t module_count;
    struct rule rules[RULES];
    uint32_t rule_count;
    bool says_atomic; /* a rule does: then what no rule names is not */
    struct text_label labels[LABELS];
    uint32_t label_ids;
    bool functions; /* are blocks, although nobody said anything */
    char *scratch;  /* of the demangler */
} known;

/* ---- modules ---------------------------------------------------------------------------- */

static void spool_module(struct module *module)
{
    size_t length = strlen(module->path) + 1;
    struct tms_spool_module *record =
        tms_rt_spool_record(TMS_SPOOL_MODULE, sizeof(*record) + length);

    if (record != NULL) {
        record->bias = module->bias;
        record->end = module->end;
        memcpy(record->path, module->path, length);
        record->start = module->start;
        module->spooled = true;
    }
}

static int note_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module module = {.bias = info->dlpi_addr, .start = UINTPTR_MAX};

    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t start = info->dlpi_addr + segment->p_vaddr;
            module.start = start < module.start ? start : module.start;
            module.end =
                start + segment->p_memsz > module.end ? start + segment->p_memsz : module.end;
        }
    }
    for (uint32_t i = 0; i < known.module_count; i++) {
        if (known.modules[i].start == module.start && known.modules[i].end == module.end) {
            return 0;
        }
    }
    if (known.module_count == MODULES || module.end == 0) {
        return 0;
    }
    if (info->dlpi_name[0] != '\0') {
        strncpy(module.path, info->dlpi_name, sizeof(module.path) - 1);
    } else if (known.module_count == 0) {
        ssize_t length = readlink("/proc/self/exe", module.path, sizeof(module.path) - 1);
        module.path[length > 0 ? length : 0] = '\0';
    }
    known.modules[known.module_count] = module;
    spool_module(&known.modules[known.module_count++]);
    return 0;
}

static struct module *find_module(uintptr_t address)
{
    for (int tries = 0; tries < 2; tries++) {
        for (uint32_t i = 0; i < known.module_count; i++) {
            if (known.modules[i].start <= address && address < known.modules[i].end) {
                return &known.modules[i];
            }
        }
        dl_iterate_phdr(note_module, NULL);
    }
    return NULL;
}

/* ---- symbols ---------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct symbol *symbols, size_t count)
{
    /* qsort may allocate; this is a heap sort. */
    for (size_t end = count, root = count / 2; end > 1;) {
        if (root > 0) {
            root--;
        } else {
            end--;
            struct symbol last = symbols[end];
            symbols[end] = symbols[0];
            symbols[0] = last;
        }
        for (size_t at = root, child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && by_start(&symbols[child], &symbols[child + 1]) < 0) {
                child++;
            }
            if (by_start(&symbols[at], &symbols[child]) >= 0) {
                break;
            }
            struct symbol other = symbols[at];
            symbols[at] = symbols[child];
            symbols[child] = other;
        }
    }
}

static void add_symbols(struct module *module, const char *file, size_t size,
                        const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
    if (table->sh_offset > size || table->sh_size > size - table->sh_offset ||
        strings->sh_offset > size || strings->sh_size > size - strings->sh_offset) {
        return;
    }
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    if (!TMS_RESERVE(&known.memory, &module->symbols, &module->capacity, count, 64)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + table->sh_offset + i * sizeof(symbol), sizeof(symbol));
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size > 0 && symbol.st_name < strings->sh_size) {
            uintptr_t start = module->bias + symbol.st_value;
            module->symbols[module->count++] = (struct symbol){
                start, start + symbol.st_size, file + strings->sh_offset + symbol.st_name};
        }
    }
}

/* The file stays mapped: the names are in it. */
static void read_symbols(struct module *module)
{
    struct stat info;
    int file = open(module->path, O_RDONLY | O_CLOEXEC);

    module->looked = true;
    if (file < 0) {
        return;
    }
    if (fstat(file, &info) != 0 || (size_t)info.st_size < sizeof(Elf64_Ehdr)) {
        close(file);
        return;
    }
    size_t size = (size_t)info.st_size;
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    const Elf64_Ehdr *elf = (const void *)bytes;
    if (bytes == MAP_FAILED || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_shentsize != sizeof(Elf64_Shdr) || elf->e_shoff > size ||
        (size - elf->e_shoff) / sizeof(Elf64_Shdr) < elf->e_shnum) {
        return;
    }
    const Elf64_Shdr *sections = (const void *)(bytes + elf->e_shoff);
    for (int pass = 0; pass < 2 && module->count == 0; pass++) {
        for (unsigned i = 0; i < elf->e_shnum; i++) {
            if (sections[i].sh_type == (pass == 0 ? SHT_SYMTAB : SHT_DYNSYM) &&
                sections[i].sh_link < elf->e_shnum) {
                add_symbols(module, bytes, size, &sections[i], &sections[sections[i].sh_link]);
            }
        }
    }
    sort(module->symbols, module->count);
}

/* The name in the symbol table, "" if there is none. */
static const char *raw_name(uintptr_t address)
{
    struct module *module = find_module(address);

    if (module == NULL) {
        return "";
    }
    if (!module->looked) {
        read_symbols(module);
    }
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->symbols[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && address <= module->symbols[low - 1].end ? module->symbols[low - 1].name : "";
}

static void name_of(uintptr_t address, char name[NAME_MOST])
{
    const char *raw = raw_name(address);
    const char *demangled = NULL;
    int status = -1;

    if (raw[0] == '_' && raw[1] == 'Z' && __cxa_demangle != NULL) {
        if (known.scratch == NULL) {
            known.scratch = tms_rt_map(SCRATCH);
        }
        if (known.scratch != NULL) {
            tms_rt_lend(known.scratch, SCRATCH); /* this may be a signal handler inside malloc */
            demangled = __cxa_demangle(raw, NULL, NULL, &status);
        }
    }
    strncpy(name, demangled != NULL ? demangled : raw, NAME_MOST - 1);
    name[NAME_MOST - 1] = '\0';
    /* "deposit.constprop.0" is a copy of deposit that the compiler made. */
    char *copy = demangled != NULL ? strstr(name, " [clone ") : strchr(name, '.');
    if (copy > name) {
        *copy = '\0';
    }
    tms_rt_lend(NULL, 0);
}

/* ---- rules ------------------------------------------------------------------------------ */

static void read_rules(const char *path)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &info) != 0 || info.st_size == 0) {
        return;
    }
    /* Private and writable, one byte more than there is: lines become texts. */
    char *at = tms_rt_map((size_t)info.st_size + 1);
    ssize_t length = at == NULL ? -1 : read(file, at, (size_t)info.st_size);
    close(file);
    while (length > 0 && *at != '\0' && known.rule_count < RULES) {
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
}

enum answer { ANSWER_NONE, ANSWER_ATOMIC, ANSWER_NOT_ATOMIC };

static enum answer ask(const char *name)
{
    enum answer answer = known.says_atomic ? ANSWER_NOT_ATOMIC : ANSWER_NONE;

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

    if (record == NULL) {
        return 0;
    }
    record->function = function != 0;
    record->address = function;
    memcpy(record->text, name, length);
    record->id = ++known.label_ids;
    return known.label_ids;
}

uint32_t tms_rt_text_label(const char *name)
{
    uint32_t id = 0;
    size_t at = 0;

    for (const char *c = name; *c != '\0'; c++) {
        at = (at ^ (unsigned char)*c) * 0x100000001b3u;
    }
    tms_rt_mutex_lock(&known.lock);
    for (uint32_t tries = 0; tries < LABELS; tries++, at++) {
        struct text_label *label = &known.labels[at % LABELS];
        if (label->name == NULL) {
            size_t length = strlen(name) + 1;
            char *copy = tms_resize(&known.memory, NULL, 0, length, 1);
            if (copy == NULL) {
                break;
            }
            memcpy(copy, name, length);
            label->name = copy;
            label->id = ask(name) == ANSWER_NOT_ATOMIC ? 0 : new_label(0, name);
        }
        if (strcmp(label->name, name) == 0) {
            id = label->id;
            break;
        }
    }
    tms_rt_mutex_unlock(&known.lock);
    return id;
}

/* ---- functions -------------------------------------------------------------------------- */

/* "void std::__invoke_impl<…>(…)": what comes before the first bracket belongs to std. */
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

static void decide(struct tms_rt_function *function, uintptr_t address)
{
    char name[NAME_MOST];

    name_of(address, name);
    enum answer answer = ask(name);
    function->plumbing = is_plumbing(name) || TMS_RT_FOREIGN(address);
    function->assumed = answer == ANSWER_NONE;
    function->name = new_label(address, name);
    function->site = tms_rt_bare_site(address);
    function->address = address;
    bool atomic = answer == ANSWER_ATOMIC || (answer == ANSWER_NONE && !function->plumbing &&
                                              strcmp(name, "main") != 0);
    atomic_store(&function->label, known.functions && atomic ? function->name : 0);
}

/* The row of the function that a place in the table stands for, if it is this one. */
static struct tms_rt_function *row_at(size_t at, uintptr_t address, bool *free)
{
    uint32_t row = atomic_load_explicit(&known.table[at % FUNCTIONS], memory_order_acquire);

    *free = row == 0;
    return row != 0 && known.rows[row].address == address ? &known.rows[row] : NULL;
}

/* Stands for those for which there is no room. */
static struct tms_rt_function nothing = {.assumed = true};

void tms_rt_forget_called(struct tms_rt_thread *thread)
{
    for (size_t i = 0; i < TMS_RT_FUNCTION_CACHE; i++) {
        thread->called.plain[i] = 0;
        thread->called.function[i] = &nothing;
    }
}

/* Nothing is known of the function yet: looks for its place from here on, under the lock. */
static __attribute__((noinline)) struct tms_rt_function *add_function(uintptr_t address, size_t at)
{
    struct tms_rt_function *found;
    bool free;

    tms_rt_mutex_lock(&known.lock);
    while ((found = row_at(at, address, &free)) == NULL && !free) {
        at++;
    }
    if (found == NULL && known.function_count + 1 < FUNCTIONS / 2) {
        uint32_t row = ++known.function_count;
        found = &known.rows[row];
        decide(found, address);
        atomic_store_explicit(&known.table[at % FUNCTIONS], row, memory_order_release);
    }
    tms_rt_mutex_unlock(&known.lock);
    return found != NULL ? found : &nothing;
}

struct tms_rt_function *tms_rt_function(uintptr_t address)
{
    for (size_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 40;; at++) {
        bool free;
        struct tms_rt_function *found = row_at(at, address, &free);
        if (found != NULL) {
            return found;
        }
        if (free) {
            return add_function(address, at);
        }
    }
}

/* Asked again and again by threads that wait: what is so already is not written again. */
void tms_rt_function_unfit(struct tms_rt_function *function)
{
    if (function->assumed && atomic_load_explicit(&function->label, memory_order_relaxed) != 0) {
        atomic_store_explicit(&function->label, 0, memory_order_relaxed);
    }
}

static bool make_table(void)
{
    known.table = tms_rt_map(FUNCTIONS * sizeof(*known.table));
    return known.table != NULL;
}

void tms_rt_functions_start(const char *spec, bool functions)
{
    known.functions = functions;
    known.rows = tms_rt_map(FUNCTIONS / 2 * sizeof(*known.rows));
    if (known.rows == NULL || !make_table()) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    dl_iterate_phdr(note_module, NULL);
    if (spec != NULL) {
        read_rules(spec);
    }
}

bool tms_rt_rules_name_blocks(void)
{
    return known.says_atomic;
}

void tms_rt_functions_finish(void)
{
    dl_iterate_phdr(note_module, NULL);
    for (uint32_t i = 0; i < known.rule_count; i++) {
        if (!known.rules[i].matched) {
            tms_rt_warn("%s \"%s\" matched no function and no block that ran",
                        known.rules[i].atomic ? "atomic" : "not-atomic", known.rules[i].pattern);
        }
    }
}

/* The same program, another spool: what it refers to is said again. */
void tms_rt_functions_restart(void)
{
    atomic_store(&known.lock.state, 0);
    known.label_ids = 0;
    known.function_count = 0;
    memset(known.labels, 0, sizeof(known.labels));
    if (!make_table()) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
    }
    for (uint32_t i = 0; i < known.module_count; i++) {
        spool_module(&known.modules[i]);
    }
}
