/* SPDX-License-Identifier: Apache-2.0 */
/* Files, and the functions in them; see module.h. variable_symbols.c has the variables. */
#include "symbol/module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbol/function.h"
#include "symbol/spelling.h"

#define DEEPEST 64 /* functions and blocks inside each other */

/* ---- files ------------------------------------------------------------------------------ */

_Thread_local jmp_buf *tms_module_escape;

__attribute__((noreturn)) static void out_of_memory(void)
{
    longjmp(*tms_module_escape, 1);
}

/* Does not close it: its memory is leaked. */
void tms_module_give_up(struct tms_module *module)
{
    module->dwfl = NULL;
    module->image = NULL;
}

/* A path from a damaged spool may be that of a FIFO, on which open would block forever. */
static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static Dwfl_Module *open_image(struct tms_module *module)
{
    Dwfl_Module *image =
        dwfl_report_elf(module->dwfl, tms_module_name(module), module->path, -1, 0, true);
    Dwarf_Addr bias;

    dwfl_report_end(module->dwfl, NULL, NULL);
    Dwarf *dwarf = image != NULL ? dwfl_module_getdwarf(image, &bias) : NULL;
    if (dwarf != NULL) {
        dwarf_new_oom_handler(dwarf, out_of_memory);
        module->types.dwarf = dwarf;
    }
    return image;
}

Dwfl_Module *tms_module_image(struct tms_module *module)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };

    if (module->opened) {
        return module->image;
    }
    module->opened = true;
    module->dwfl = is_file(module->path) ? dwfl_begin(&callbacks) : NULL;
    if (module->dwfl != NULL) {
        dwfl_report_begin(module->dwfl);
        module->image = open_image(module);
    }
    return module->image;
}

void tms_module_close(struct tms_module *module)
{
    dwfl_end(module->dwfl);
    tms_types_close(&module->types);
    free(module->variables);
    free(module->path);
}

const char *tms_module_name(const struct tms_module *module)
{
    const char *slash = strrchr(module->path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : module->path;
}

/* ---- functions -------------------------------------------------------------------------- */

/* The lookup of one address. */
struct search {
    struct tms_symbol_texts *texts;
    struct tms_types *types;
    Dwarf_Die *unit;
    const char *compiled_in;
    const char *symbol; /* of the symbol table, NULL: none */
    struct tms_frame *frames;
    size_t count, room;
};

static bool is_inlined(Dwarf_Die *die)
{
    return dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

/*
 * The linkage name has the qualification that the name of a method lacks. Not every compiler
 * records it for local functions; then the symbol table has it.
 */
static const char *name_of(struct search *search, Dwarf_Die *die)
{
    static const unsigned linkage[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute attribute;

    for (size_t i = 0; i < sizeof(linkage) / sizeof(linkage[0]); i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, linkage[i], &attribute));
        if (name != NULL) {
            return tms_symbol_texts_demangle(search->texts, name);
        }
    }
    if (!is_inlined(die) && search->symbol != NULL && strncmp(search->symbol, "_Z", 2) == 0) {
        return tms_symbol_texts_demangle(search->texts, search->symbol);
    }
    return tms_symbol_texts_keep(search->texts, dwarf_diename(die));
}

static void set_place(struct search *search, struct tms_frame *frame, const char *path, int line,
                      int column)
{
    if (path == NULL || line <= 0) {
        return;
    }
    frame->file = tms_symbol_texts_path(search->texts, path, search->compiled_in);
    frame->line = frame->file != NULL ? (unsigned)line : 0;
    frame->column = column > 0 ? (unsigned)column : 0;
    frame->path = tms_symbol_texts_full_path(search->texts, path, search->compiled_in);
    frame->source = frame->path != NULL
                        ? tms_symbol_texts_source(search->texts, frame->path, frame->line)
                        : NULL;
}

/* Where the inlined function `die` was called. */
static void set_call_place(struct search *search, struct tms_frame *frame, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line, column = 0;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0 &&
        dwarf_getsrcfiles(search->unit, &files, &count) == 0 && file < count && line < INT32_MAX) {
        bool known = dwarf_formudata(dwarf_attr(die, DW_AT_call_column, &attribute), &column) == 0;
        set_place(search, frame, dwarf_filesrc(files, file, NULL, NULL), (int)line,
                  known && column < INT32_MAX ? (int)column : 0);
    }
}

/*
 * Takes the functions among the DIEs around the address, which are ordered from innermost to
 * outermost.
 */
static void take_scopes(struct search *search, Dwarf_Die *scopes, int count)
{
    Dwarf_Die *called = NULL; /* the inlined function that the next frame calls */

    for (int i = 0; i < count && search->count < search->room; i++) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram && !is_inlined(&scopes[i])) {
            continue;
        }
        struct tms_frame *frame = &search->frames[search->count];
        if (called != NULL) {
            set_call_place(search, frame, called);
        }
        frame->function = name_of(search, &scopes[i]);
        frame->locks = tms_function_is_short(&scopes[i]) && frame->function != NULL &&
                       tms_spelling_locks(frame->function);
        frame->allocates = tms_function_allocates(search->types, &scopes[i]);
        frame->holds = tms_function_holds(search->types, &scopes[i], &frame->holds_name);
        frame->instance = is_inlined(&scopes[i]) ? dwarf_dieoffset(&scopes[i]) : 0;
        search->count += frame->function != NULL;
        if (!is_inlined(&scopes[i])) {
            return;
        }
        called = &scopes[i];
    }
}

static bool has_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

static bool has_blocks(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_lexical_block;
}

/*
 * The innermost function or block around an address. dwarf_getscopes omits functions in a
 * namespace, where clang puts them.
 */
static bool find_innermost(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *innermost, int depth)
{
    Dwarf_Die die;

    if (depth >= DEEPEST || dwarf_child(parent, &die) != 0) {
        return false;
    }
    do {
        int tag = dwarf_tag(&die);
        if (has_blocks(tag) && dwarf_haspc(&die, address) == 1) {
            *innermost = die;
            find_innermost(&die, address, innermost, depth + 1);
            return true;
        }
        if (has_functions(tag) && find_innermost(&die, address, innermost, depth + 1)) {
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* The scopes of an address, innermost first, up to the callers of inlined functions. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die innermost;

    return find_innermost(unit, address, &innermost, 0) ? dwarf_getscopes_die(&innermost, scopes)
                                                        : 0;
}

static void search_scopes(struct search *search, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    int count = find_scopes(search->unit, address, &scopes);

    take_scopes(search, scopes, count);
    free(scopes);
}

static void search_line(struct search *search, Dwarf_Addr address)
{
    Dwarf_Line *line = dwarf_getsrc_die(search->unit, address);
    int number = 0, column = 0;

    if (line != NULL && dwarf_lineno(line, &number) == 0) {
        column = dwarf_linecol(line, &column) == 0 ? column : 0;
        set_place(search, &search->frames[0], dwarf_linesrc(line, NULL, NULL), number, column);
    }
}

/*
 * The compilation unit of an address; sets *bias to what has to be subtracted from the address. Not
 * every compiler writes the address table; without an entry there, all units are searched.
 */
static Dwarf_Die *find_unit(Dwfl_Module *image, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(image, address, bias);

    if (unit == NULL) {
        do {
            unit = dwfl_module_nextcu(image, unit, bias);
        } while (unit != NULL && dwarf_haspc(unit, address - *bias) != 1);
    }
    return unit;
}

/* Falls back to the symbol table where debug information has no function. */
static void search_table(struct search *search)
{
    if (search->count == 0 && search->symbol != NULL) {
        search->frames[0].function = tms_symbol_texts_demangle(search->texts, search->symbol);
        search->count = search->frames[0].function != NULL;
    }
}

size_t tms_module_frames(struct tms_module *module, struct tms_symbol_texts *texts,
                         uint64_t address, struct tms_frame *frames, size_t room)
{
    Dwfl_Module *image = tms_module_image(module);
    struct search search = {
        .texts = texts, .types = &module->types, .frames = frames, .room = room};
    Dwarf_Addr bias = 0;
    Dwarf_Attribute attribute;

    if (image == NULL) {
        return 0;
    }
    frames[0] = (struct tms_frame){0};
    search.symbol = dwfl_module_addrname(image, address);
    search.unit = find_unit(image, address, &bias);
    if (search.unit != NULL) {
        search.compiled_in = dwarf_formstring(dwarf_attr(search.unit, DW_AT_comp_dir, &attribute));
        search_line(&search, address - bias);
        search_scopes(&search, address - bias);
    }
    search_table(&search);
    return search.count;
}

bool tms_module_function(struct tms_module *module, uint64_t address, size_t index,
                         Dwarf_Die *function)
{
    Dwfl_Module *image = tms_module_image(module);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = image != NULL ? find_unit(image, address, &bias) : NULL, *scopes = NULL;
    int count = unit != NULL ? find_scopes(unit, address - bias, &scopes) : 0;
    bool found = false;

    for (int i = 0; i < count && !found; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram || is_inlined(&scopes[i])) {
            found = index-- == 0;
            *function = scopes[i];
        }
    }
    free(scopes);
    return found;
}
