/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of functions, from the symbol tables of the files that the process has loaded. Callers
 * hold the lock of functions.c.
 */
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/core/function_names.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/thread.h"
#include "runtime/intercept/malloc_intercept.h"
#include "runtime/spool/spool_writer.h"

#define MODULES 512u
#define SCRATCH (1u << 20)

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
    bool looked; /* the symbol table has been read */
    bool spooled;
    char path[256];
};

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct module modules[MODULES];
    uint32_t module_count;
    char *scratch; /* for the demangler */
} known;

/* ---- modules ---------------------------------------------------------------------------- */

static void spool_module(struct module *module)
{
    size_t length = strlen(module->path) + 1;
    struct tms_spool_module *record =
        tms_rt_spool_record(TMS_SPOOL_MODULE, sizeof(*record) + length);

    assert(module->start < module->end && strlen(module->path) < sizeof(module->path));
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
    if (tms_rt_mode.scheduled) {
        tms_rt_steer_module(module.path, module.bias);
    }
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

void tms_rt_note_modules(void)
{
    dl_iterate_phdr(note_module, NULL);
}

void tms_rt_names_restart(void)
{
    for (uint32_t i = 0; i < known.module_count; i++) {
        spool_module(&known.modules[i]);
    }
}

/* ---- symbols ---------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct symbol *symbols, size_t count)
{
    /* Heap sort, because qsort may allocate. */
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
    if (!TMS_RESERVE(&memory, &module->symbols, &module->capacity, count, 64)) {
        return;
    }
    assert(module->count + count <= module->capacity || module->count == 0);
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + table->sh_offset + i * sizeof(symbol), sizeof(symbol));
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if ((type == STT_FUNC || type == STT_OBJECT) && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size > 0 && symbol.st_name < strings->sh_size) {
            uintptr_t start = module->bias + symbol.st_value;
            module->symbols[module->count++] = (struct symbol){
                start, start + symbol.st_size, file + strings->sh_offset + symbol.st_name};
        }
    }
}

/* The file stays mapped, because the names are in it. */
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

/* The symbol at an address, or at a return address right after its code; NULL: none. */
static const struct symbol *find_symbol(uintptr_t address)
{
    struct module *module = find_module(address);

    if (module == NULL) {
        return NULL;
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
    assert(low == 0 || module->symbols[low - 1].start <= address);
    assert(low == module->count || address < module->symbols[low].start);
    return low > 0 && address <= module->symbols[low - 1].end ? &module->symbols[low - 1] : NULL;
}

bool tms_rt_find_code(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
    const struct symbol *symbol = find_symbol(address);

    if (symbol != NULL) {
        *start = symbol->start;
        *end = symbol->end;
    }
    return symbol != NULL;
}

void tms_rt_find_name(uintptr_t address, char name[TMS_RT_NAME_MOST])
{
    const struct symbol *symbol = find_symbol(address);
    const char *raw = symbol != NULL ? symbol->name : "";
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
    strncpy(name, demangled != NULL ? demangled : raw, TMS_RT_NAME_MOST - 1);
    name[TMS_RT_NAME_MOST - 1] = '\0';
    /* "deposit.constprop.0" is a clone of deposit. */
    char *copy = demangled != NULL ? strstr(name, " [clone ") : strchr(name, '.');
    if (copy > name) {
        *copy = '\0';
    }
    tms_rt_lend(NULL, 0);
}
