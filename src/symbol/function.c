/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and their variables; see function.h. */
#include "symbol/function.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define SHORT     160 /* bytes of code, instrumented: a call or two */
#define DEEPEST   64
#define DETOURS   8 /* from a copy to where the function was declared */
#define NAME_MOST 256

/* Follows the attribute from an inlined or optimised copy to the function as it was written. */
static Dwarf_Die follow(const Dwarf_Die *function, unsigned name)
{
    Dwarf_Die die = *function, next;
    Dwarf_Attribute attribute;

    for (int i = 0; i < DETOURS; i++) {
        if (dwarf_formref_die(dwarf_attr(&die, name, &attribute), &next) == NULL) {
            break;
        }
        die = next;
    }
    return die;
}

static Dwarf_Die original(const Dwarf_Die *function)
{
    return follow(function, DW_AT_abstract_origin);
}

/* ---- variables ---------------------------------------------------------------------------- */

struct lookup {
    struct tms_types *types;
    const char *name;
    size_t length;
    const struct tms_type *found;
    bool ambiguous;
};

static bool is_same(struct tms_types *types, const struct tms_type *x, const struct tms_type *y)
{
    for (int i = 0; x != y && i < DETOURS; i++) {
        if (x == NULL || y == NULL || x->kind != y->kind || x->size != y->size) {
            return false;
        }
        if (x->kind != TMS_TYPE_POINTER) {
            return x->name != NULL && y->name != NULL && strcmp(x->name, y->name) == 0;
        }
        x = tms_types_pointee(types, x);
        y = tms_types_pointee(types, y);
    }
    return x == y;
}

static void look_at(struct lookup *lookup, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    if (name == NULL || strlen(name) != lookup->length ||
        memcmp(name, lookup->name, lookup->length) != 0) {
        return;
    }
    const struct tms_type *type = tms_types_of(lookup->types, die);
    lookup->ambiguous = lookup->ambiguous ||
                        (lookup->found != NULL && !is_same(lookup->types, lookup->found, type));
    lookup->found = type != NULL ? type : lookup->found;
}

/*
 * Optimisation removes blocks, and variables from copies, so all blocks of the function as it was
 * written are searched, regardless of the address.
 */
static void look_through(struct lookup *lookup, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;

    if (depth >= DEEPEST || dwarf_child(parent, &die) != 0) {
        return;
    }
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            look_at(lookup, &die);
            break;
        case DW_TAG_lexical_block:
            look_through(lookup, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

const struct tms_type *tms_function_variable(struct tms_types *types, Dwarf_Die *function,
                                             const char *name, size_t length)
{
    struct lookup lookup = {.types = types, .name = name, .length = length};
    Dwarf_Die written = original(function);

    look_through(&lookup, &written, 0);
    return lookup.ambiguous ? NULL : lookup.found;
}

const struct tms_type *tms_function_returns(struct tms_types *types, Dwarf_Die *function)
{
    Dwarf_Die written = original(function);

    return tms_types_of(types, &written);
}

bool tms_function_is_short(Dwarf_Die *function)
{
    Dwarf_Addr low, high;

    return dwarf_tag(function) == DW_TAG_inlined_subroutine ||
           (dwarf_lowpc(function, &low) == 0 && dwarf_highpc(function, &high) == 0 &&
            high - low <= SHORT);
}

/* ---- allocators --------------------------------------------------------------------------- */

static bool takes_size(struct tms_types *types, Dwarf_Die *function)
{
    Dwarf_Die die;

    if (dwarf_child(function, &die) != 0) {
        return false;
    }
    do {
        const struct tms_type *type =
            dwarf_tag(&die) == DW_TAG_formal_parameter ? tms_types_of(types, &die) : NULL;
        if (type != NULL && type->kind == TMS_TYPE_OTHER && type->size == sizeof(size_t)) {
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool tms_function_allocates(struct tms_types *types, Dwarf_Die *function)
{
    Dwarf_Die written = original(function);
    const struct tms_type *type = tms_types_of(types, &written);

    return type != NULL && type->kind == TMS_TYPE_POINTER && type->where.addr == NULL &&
           takes_size(types, &written);
}

/* The first type argument of a template instance. */
static const struct tms_type *argument_of(struct tms_types *types, Dwarf_Die *die)
{
    Dwarf_Die child;

    if (dwarf_child(die, &child) != 0) {
        return NULL;
    }
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter) {
            return tms_types_of(types, &child);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

/* The class around a member function. */
static bool class_of(const Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Die declaration = follow(function, DW_AT_specification), *scopes = NULL;
    int count = dwarf_getscopes_die(&declaration, &scopes);
    bool found = count > 1 && (dwarf_tag(&scopes[1]) == DW_TAG_class_type ||
                               dwarf_tag(&scopes[1]) == DW_TAG_structure_type);

    if (found) {
        *class = scopes[1];
    }
    free(scopes);
    return found;
}

const char *tms_function_type_name(struct tms_types *types, const struct tms_type *type)
{
    char text[NAME_MOST];
    const char *name = NULL;
    size_t stars = 0, length;

    for (; type != NULL && type->kind == TMS_TYPE_POINTER && stars < DETOURS; stars++) {
        if (type->where.addr == NULL) {
            name = "void";
        }
        type = tms_types_pointee(types, type);
    }
    for (; type != NULL && type->kind == TMS_TYPE_ARRAY && stars == 0;) {
        type = type->target;
    }
    name = type != NULL ? type->name : name;
    length = name != NULL ? strlen(name) : 0;
    if (length == 0 || length + stars >= sizeof(text)) {
        return NULL;
    }
    memcpy(text, name, length);
    memset(text + length, '*', stars);
    text[length + stars] = '\0';
    return tms_symbol_texts_keep(types->texts, text);
}

/* "std::_Sp_counted_ptr_inplace", "std::_Rb_tree_node": only the type that they hold matters. */
static bool is_internal(const char *name)
{
    return strstr(name, "std::_") != NULL || strstr(name, "__detail::_") != NULL;
}

const struct tms_type *tms_function_holds(struct tms_types *types, Dwarf_Die *function,
                                          const char **name)
{
    Dwarf_Die written = original(function), class;
    const char *own = dwarf_diename(&written);
    const struct tms_type *type = NULL;

    *name = NULL;
    if (own != NULL && strcmp(own, "allocate") == 0 && class_of(&written, &class)) {
        type = argument_of(types, &class);
    } else if (own != NULL && strncmp(own, "make_unique", 11) == 0) {
        type = argument_of(types, &written);
        type = type != NULL && type->kind == TMS_TYPE_ARRAY ? type->target : type;
    }
    if (type == NULL) {
        return NULL;
    }
    *name = tms_function_type_name(types, type);
    if (*name != NULL && type->inside != NULL && is_internal(*name)) {
        *name = type->inside;
    }
    return type;
}
