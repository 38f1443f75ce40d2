/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables with static storage. Debug information has the address and the declaration of a
 * variable, but no index by address: the first query about a file lists all of its variables. The
 * symbol table is the fallback.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/module.h"
#include "symbol/spelling.h"

#define DEEPEST 64 /* blocks and functions inside each other */

struct listing {
    struct tms_module *module;
    struct tms_symbol_texts *texts;
    Dwarf_Die unit;
    const char *compiled_in;
    uint64_t bias;
};

/* The address that an operation gives. */
static bool address_of(Dwarf_Attribute *location, Dwarf_Op *operation, Dwarf_Addr *address)
{
    Dwarf_Attribute indexed;

    if (operation->atom == DW_OP_addr) {
        *address = operation->number;
        return true;
    }
    return (operation->atom == DW_OP_addrx || operation->atom == DW_OP_GNU_addr_index) &&
           dwarf_getlocation_attr(location, operation, &indexed) == 0 &&
           dwarf_formaddr(&indexed, address) == 0;
}

static uint64_t size_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;

    if (dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type) == NULL ||
        dwarf_aggregate_size(&type, &size) != 0 || size == 0) {
        return 1;
    }
    return size;
}

/* libdw's own function for this treats the first file of a DWARF 5 unit as none. */
static const char *declared_in(const struct listing *listing, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Files *files;
    Dwarf_Die unit = listing->unit;
    size_t count;

    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) != 0 ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count) {
        return NULL;
    }
    return dwarf_filesrc(files, index, NULL, NULL);
}

static void set_declared(const struct listing *listing, Dwarf_Die *die,
                         struct tms_module_variable *variable)
{
    const char *path = declared_in(listing, die);
    int line = 0;

    if (path != NULL && dwarf_decl_line(die, &line) == 0 && line > 0) {
        variable->file = tms_symbol_texts_path(listing->texts, path, listing->compiled_in);
        variable->line = variable->file != NULL ? (unsigned)line : 0;
    }
}

static void add_variable(struct tms_module *module, const struct tms_module_variable *variable)
{
    if (!TMS_RESERVE(NULL, &module->variables, &module->variable_capacity,
                     module->variable_count + 1, 64)) {
        return;
    }
    module->variables[module->variable_count++] = *variable;
}

/* Optimisation may split a variable: then each piece is listed. */
static void add_pieces(const struct listing *listing, Dwarf_Attribute *location,
                       struct tms_module_variable *variable)
{
    Dwarf_Op *operations;
    size_t count;
    uint64_t whole = variable->size;
    Dwarf_Addr address;

    if (dwarf_getlocation(location, &operations, &count) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool pieces = i + 1 < count && operations[i + 1].atom == DW_OP_piece;
        if ((pieces || count == 1) && address_of(location, &operations[i], &address)) {
            variable->start = address + listing->bias;
            variable->home = variable->home != 0 ? variable->home : variable->start;
            variable->size = pieces ? operations[i + 1].number : whole;
            add_variable(listing->module, variable);
        } else if (operations[i].atom == DW_OP_piece) {
            variable->before += operations[i].number;
        }
    }
}

static const char *name_of(const struct listing *listing, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *mangled =
        dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

    return mangled != NULL ? tms_spelling_variable(
                                 listing->texts, tms_symbol_texts_demangle(listing->texts, mangled))
                           : tms_symbol_texts_keep(listing->texts, dwarf_diename(die));
}

static void list_variable(const struct listing *listing, Dwarf_Die *die)
{
    Dwarf_Attribute location;

    if (dwarf_attr(die, DW_AT_location, &location) == NULL) {
        return;
    }
    struct tms_module_variable variable = {
        .size = size_of(die), .name = name_of(listing, die), .die = *die};
    set_declared(listing, die, &variable);
    if (variable.name != NULL) {
        add_pieces(listing, &location, &variable);
    }
}

static void list_children(const struct listing *listing, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth >= DEEPEST || dwarf_child(parent, &die) != 0) {
        return;
    }
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            list_variable(listing, &die);
            break;
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
            list_children(listing, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_start(const void *a, const void *b)
{
    const struct tms_module_variable *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void list_all(struct tms_module *module, struct tms_symbol_texts *texts, Dwfl_Module *image)
{
    Dwarf_Addr bias = 0;
    Dwarf *dwarf = dwfl_module_getdwarf(image, &bias);
    struct listing listing = {.module = module, .texts = texts, .bias = bias};
    Dwarf_Off offset = 0, next;
    size_t header;
    Dwarf_Attribute attribute;

    module->listed = true;
    for (; dwarf != NULL && dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0;
         offset = next) {
        if (dwarf_offdie(dwarf, offset + header, &listing.unit) != NULL) {
            listing.compiled_in =
                dwarf_formstring(dwarf_attr(&listing.unit, DW_AT_comp_dir, &attribute));
            list_children(&listing, &listing.unit, 0);
        }
    }
    if (module->variable_count > 0) {
        qsort(module->variables, module->variable_count, sizeof(*module->variables), by_start);
    }
}

/* The last variable that starts at or before the address, if it extends to it. */
static struct tms_module_variable *find_listed(const struct tms_module *module, uint64_t address)
{
    size_t low = 0, high = module->variable_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->variables[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct tms_module_variable *variable = low > 0 ? &module->variables[low - 1] : NULL;
    return variable != NULL && address - variable->start < variable->size ? variable : NULL;
}

static bool find_symbol(struct tms_symbol_texts *texts, Dwfl_Module *image, uint64_t address,
                        struct tms_datum *datum)
{
    GElf_Sym symbol;
    GElf_Off offset;
    const char *name = dwfl_module_addrinfo(image, address, &offset, &symbol, NULL, NULL, NULL);

    if (name == NULL || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) {
        return false;
    }
    *datum = (struct tms_datum){
        .name = tms_spelling_variable(texts, tms_symbol_texts_demangle(texts, name)),
        .home = address - offset,
        .offset = offset};
    return datum->name != NULL;
}

/* Lists them at the first question; NULL if the file can't be read. */
static Dwfl_Module *list(struct tms_module *module, struct tms_symbol_texts *texts)
{
    Dwfl_Module *image = tms_module_image(module);

    if (image != NULL && !module->listed) {
        list_all(module, texts, image);
    }
    return image;
}

const struct tms_module_variable *tms_module_variable(struct tms_module *module,
                                                      struct tms_symbol_texts *texts,
                                                      const char *name, size_t length)
{
    const struct tms_module_variable *found = NULL;

    if (list(module, texts) == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct tms_module_variable *variable = &module->variables[i];
        if (strlen(variable->name) != length || memcmp(variable->name, name, length) != 0) {
            continue;
        }
        if (found != NULL) {
            return NULL;
        }
        found = variable;
    }
    return found;
}

bool tms_module_datum(struct tms_module *module, struct tms_symbol_texts *texts, uint64_t address,
                      struct tms_datum *datum)
{
    Dwfl_Module *image = list(module, texts);

    if (image == NULL) {
        return false;
    }
    struct tms_module_variable *variable = find_listed(module, address);
    if (variable == NULL) {
        return find_symbol(texts, image, address, datum);
    }
    if (variable->type == NULL) {
        variable->type = tms_types_of(&module->types, &variable->die);
    }
    *datum = (struct tms_datum){.name = variable->name,
                                .home = variable->home,
                                .offset = address - variable->start + variable->before,
                                .type = variable->type,
                                .file = variable->file,
                                .line = variable->line};
    return true;
}
