/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads types from debug information; see types.h. Compilers spell some types differently ("long
 * unsigned int", "unsigned long") and omit different definitions that another file has; names of
 * memory must not depend on that.
 */
#include "symbol/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST      64         /* nesting of types; damaged files contain cycles */
#define MEMBERS_MOST (1u << 16) /* of one record */

struct tms_built_type {
    const void *key; /* where the entry is in memory */
    const struct tms_type *type;
};

void tms_types_close(struct tms_types *types)
{
    free(types->built);
    tms_hashtable_clear(&types->built_index, NULL);
    tms_type_index_close(&types->index);
}

static const struct tms_type *build(struct tms_types *types, Dwarf_Die *die, int depth);

/* ---- what was built ----------------------------------------------------------------------- */

/* NULL if it was not built yet. */
static const struct tms_type *find_built(const struct tms_types *types, const void *key)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&types->built_index, tms_hash((uintptr_t)key), &walk);

    while (found != 0 && types->built[found - 1].key != key) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? types->built[found - 1].type : NULL;
}

static bool add_built(struct tms_types *types, const void *key, const struct tms_type *type)
{
    size_t next = types->built_count + 1;

    if (!TMS_RESERVE(NULL, &types->built, &types->built_capacity, next, 64) ||
        !tms_hashtable_add(&types->built_index, NULL, tms_hash((uintptr_t)key), (uint32_t)next)) {
        return false;
    }
    types->built[types->built_count++] = (struct tms_built_type){key, type};
    return true;
}

/* ---- entries ------------------------------------------------------------------------------ */

static bool type_die(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) != NULL;
}

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &word) != 0) {
        return false;
    }
    *number = word;
    return true;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool set = false;

    return dwarf_formflag(dwarf_attr(die, name, &attribute), &set) == 0 && set;
}

static bool is_record(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);

    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* ---- names -------------------------------------------------------------------------------- */

/* Up to where template arguments begin: those are spelt differently by each compiler. */
static size_t plain_length(const char *name)
{
    return strcspn(name, "<");
}

static const char *spelling(const char *name)
{
    static const char *const spellings[][2] = {
        {"long unsigned int", "unsigned long"},
        {"long int", "long"},
        {"short int", "short"},
        {"short unsigned int", "unsigned short"},
        {"long long int", "long long"},
        {"long long unsigned int", "unsigned long long"},
        {"unsigned __int128", "__int128 unsigned"},
        {"_Bool", "bool"},
    };

    for (size_t i = 0; name != NULL && i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        if (strcmp(name, spellings[i][0]) == 0) {
            return spellings[i][1];
        }
    }
    return name;
}

/* "bank::account": with the namespaces and classes around it, without its template arguments. */
static const char *record_name(struct tms_types *types, Dwarf_Die *die)
{
    const char *own = dwarf_diename(die);
    char text[256];
    size_t length = 0;
    Dwarf_Die *scopes = NULL;
    int count = own != NULL ? dwarf_getscopes_die(die, &scopes) : 0;

    for (int i = count - 1; i > 0; i--) {
        bool names = dwarf_tag(&scopes[i]) == DW_TAG_namespace || is_record(&scopes[i]);
        const char *name = names ? dwarf_diename(&scopes[i]) : NULL;
        size_t more = name != NULL ? plain_length(name) : 0;
        if (more > 0 && length + more + 2 < sizeof(text) && strcmp(name, "__cxx11") != 0) {
            memcpy(text + length, name, more);
            memcpy(text + length + more, "::", 2);
            length += more + 2;
        }
    }
    free(scopes);
    size_t more = own != NULL ? plain_length(own) : 0;
    if (more == 0 || length + more >= sizeof(text)) {
        return NULL;
    }
    memcpy(text + length, own, more);
    text[length + more] = '\0';
    return strcmp(text, "std::basic_string") == 0 && strncmp(own + more, "<char", 5) == 0
               ? "std::string"
               : tms_symbol_texts_keep(types->texts, text);
}

/* ---- members ------------------------------------------------------------------------------ */

/* Identifiers that C and C++ leave to the implementation. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* Is it standard library storage for an object of the program: std::make_shared, nodes? */
static bool is_storage(const char *name)
{
    return strcmp(name, "_M_storage") == 0 || strcmp(name, "_M_impl") == 0;
}

/* False: it has no fixed offset, like a virtual base. */
static bool member_place(Dwarf_Die *die, struct tms_member *member)
{
    Dwarf_Attribute attribute;
    uint64_t bit = 0, bits = 0, from_top = 0;
    Dwarf_Op *operations;
    size_t count;

    member->offset = 0;
    if (dwarf_hasattr(die, DW_AT_data_member_location) &&
        !number_of(die, DW_AT_data_member_location, &member->offset)) {
        if (dwarf_getlocation(dwarf_attr(die, DW_AT_data_member_location, &attribute), &operations,
                              &count) != 0 ||
            count != 1 || operations[0].atom != DW_OP_plus_uconst) {
            return false;
        }
        member->offset = operations[0].number;
    }
    member->size = member->type->size;
    if (!number_of(die, DW_AT_bit_size, &bits) || bits == 0) {
        return member->offset <= UINT32_MAX;
    }
    member->bits = true;
    if (number_of(die, DW_AT_bit_offset, &from_top)) { /* DWARF 3: counted from the other end */
        bit = 8 * (member->offset + member->size) - from_top - bits;
    } else if (!number_of(die, DW_AT_data_bit_offset, &bit)) {
        bit = 8 * member->offset;
    }
    member->offset = bit / 8;
    member->size = (bit + bits + 7) / 8 - bit / 8;
    return member->offset <= UINT32_MAX;
}

/* Does a record have a member of this name other than the given one? */
static bool has_twin(const struct tms_type *record, const struct tms_member *besides,
                     const struct tms_type *part)
{
    for (size_t i = 0; i < part->member_count; i++) {
        const struct tms_member *inner = &part->members[i];
        if (inner->name == NULL && has_twin(record, besides, inner->type)) {
            return true;
        }
        for (size_t j = 0; inner->name != NULL && j < record->member_count; j++) {
            const struct tms_member *other = &record->members[j];
            struct tms_type alone = {.members = other, .member_count = 1};
            if (other != besides &&
                tms_type_member(&alone, inner->name, strlen(inner->name)) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool build_member(struct tms_types *types, Dwarf_Die *die, struct tms_member *member,
                         int depth)
{
    Dwarf_Die type;
    bool is_base = dwarf_tag(die) == DW_TAG_inheritance;
    const char *name = is_base ? NULL : dwarf_diename(die);

    if ((!is_base && dwarf_tag(die) != DW_TAG_member) || flag_of(die, DW_AT_external) ||
        flag_of(die, DW_AT_declaration) || !type_die(die, &type)) {
        return false;
    }
    *member = (struct tms_member){.type = build(types, &type, depth + 1)};
    if (member->type == NULL || !member->type->built || !member_place(die, member) ||
        (name == NULL && member->bits)) {
        return false;
    }
    bool is_table = name != NULL && strncmp(name, "_vptr", 5) == 0;
    member->name = is_table ? "vptr" : tms_symbol_texts_keep(types->texts, name);
    member->hidden = name != NULL && is_reserved(name);
    member->passed = name != NULL && is_storage(name);
    bool is_part = member->type->kind == TMS_TYPE_RECORD;
    if (name == NULL && is_part && member->type->member_count == 0) {
        member->size = 0; /* an empty base takes no room */
    }
    return member->name != NULL || is_part;
}

static size_t count_children(Dwarf_Die *die)
{
    Dwarf_Die child;
    size_t count = 0;

    if (dwarf_child(die, &child) == 0) {
        do {
            count++;
        } while (count < MEMBERS_MOST && dwarf_siblingof(&child, &child) == 0);
    }
    return count;
}

static void build_members(struct tms_types *types, Dwarf_Die *die, struct tms_type *record,
                          int depth)
{
    size_t room = count_children(die);
    struct tms_member *members =
        room > 0 ? tms_symbol_texts_room(types->texts, room * sizeof(*members)) : NULL;
    Dwarf_Die child;

    if (members == NULL || dwarf_child(die, &child) != 0) {
        return;
    }
    record->members = members;
    do {
        record->member_count += build_member(types, &child, &members[record->member_count], depth);
    } while (--room > 0 && dwarf_siblingof(&child, &child) == 0);
    for (size_t i = 0; i < record->member_count; i++) {
        struct tms_member *member = &members[i];
        const struct tms_type *type = member->type;
        if (member->name == NULL && has_twin(record, member, type)) {
            member->base = type->name;
        }
        record->open = type->kind == TMS_TYPE_ARRAY && type->count == 0;
    }
}

/* ---- types -------------------------------------------------------------------------------- */

/*
 * Finds the definition of a record that this unit only declares; another unit may have it under the
 * same name.
 */
static bool find_definition(struct tms_types *types, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    size_t count = 0;
    const struct tms_type_entry *entry =
        name != NULL
            ? tms_type_index_find(&types->index, types->dwarf, name, plain_length(name), &count)
            : NULL;

    for (size_t i = 0; i < count; i++) {
        Dwarf_Die other = entry[i].die;
        if (is_record(&other) && strcmp(entry[i].name, name) == 0) {
            *die = other;
            return true;
        }
    }
    return false;
}

/* The first type that a template is an instance for. */
static const struct tms_type *argument_of(struct tms_types *types, Dwarf_Die *die, int depth)
{
    Dwarf_Die child, type;

    if (dwarf_child(die, &child) != 0) {
        return NULL;
    }
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter && type_die(&child, &type)) {
            return build(types, &type, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

/* What __gnu_cxx::__aligned_buffer<T> holds. */
static const struct tms_type *held(struct tms_types *types, Dwarf_Die *die, int depth)
{
    const char *name = dwarf_diename(die);

    return name != NULL && strncmp(name, "__aligned_", 10) == 0 ? argument_of(types, die, depth)
                                                                : NULL;
}

/* The library's own records around an object of the program: std::make_shared, nodes. */
static bool is_wrapping(const char *name)
{
    return name != NULL && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z' &&
           strchr(name, '<') != NULL;
}

static void build_record(struct tms_types *types, Dwarf_Die *die, struct tms_type *type, int depth)
{
    Dwarf_Die definition = *die;

    if (flag_of(die, DW_AT_declaration)) {
        find_definition(types, &definition);
    }
    type->kind = TMS_TYPE_RECORD;
    type->name = record_name(types, &definition);
    number_of(&definition, DW_AT_byte_size, &type->size);
    build_members(types, &definition, type, depth);
    const struct tms_type *argument =
        is_wrapping(dwarf_diename(&definition)) ? argument_of(types, &definition, depth) : NULL;
    type->inside = argument != NULL ? argument->name : NULL;
}

/* How many elements the next dimension has, 0: unknown. */
static uint64_t dimension(Dwarf_Die *range)
{
    uint64_t count = 0;

    if (number_of(range, DW_AT_count, &count)) {
        return count;
    }
    return number_of(range, DW_AT_upper_bound, &count) && count < INT64_MAX ? count + 1 : 0;
}

/* Arrays of arrays are one entry with several ranges. */
static void build_array(struct tms_types *types, Dwarf_Die *range, const struct tms_type *element,
                        struct tms_type *type, int depth)
{
    Dwarf_Die next = *range;
    bool more = false;

    while (!more && dwarf_siblingof(&next, &next) == 0) {
        more = dwarf_tag(&next) == DW_TAG_subrange_type;
    }
    struct tms_type *inner = more ? tms_symbol_texts_room(types->texts, sizeof(*inner)) : NULL;
    if (inner != NULL && depth < DEEPEST) {
        build_array(types, &next, element, inner, depth + 1);
        element = inner;
    }
    type->kind = TMS_TYPE_ARRAY;
    type->target = element;
    type->count = dimension(range);
    type->size = element != NULL && type->count < UINT32_MAX ? type->count * element->size : 0;
}

static void build_dimensions(struct tms_types *types, Dwarf_Die *die, struct tms_type *type,
                             int depth)
{
    Dwarf_Die element, range;
    const struct tms_type *target =
        type_die(die, &element) ? build(types, &element, depth + 1) : NULL;

    if (dwarf_child(die, &range) != 0) {
        return;
    }
    do {
        if (dwarf_tag(&range) == DW_TAG_subrange_type) {
            build_array(types, &range, target, type, depth);
            return;
        }
    } while (dwarf_siblingof(&range, &range) == 0);
}

/* Qualifiers do not affect memory; a typedef names an anonymous type. */
static void build_alias(struct tms_types *types, Dwarf_Die *die, struct tms_type *type, int depth)
{
    Dwarf_Die aliased;
    const struct tms_type *target =
        type_die(die, &aliased) ? build(types, &aliased, depth + 1) : NULL;

    if (target == NULL) {
        return;
    }
    *type = *target;
    if (dwarf_tag(die) == DW_TAG_typedef &&
        (target->name == NULL || target->kind == TMS_TYPE_OTHER)) {
        type->name = record_name(types, die);
    }
}

static void build_by_tag(struct tms_types *types, Dwarf_Die *die, struct tms_type *type, int depth)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
        const struct tms_type *object = held(types, die, depth);
        if (object != NULL) {
            *type = *object;
        } else {
            build_record(types, die, type, depth);
        }
        break;
    }
    case DW_TAG_array_type:
        build_dimensions(types, die, type, depth);
        break;
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        build_alias(types, die, type, depth);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        type->kind = TMS_TYPE_POINTER;
        type->size = sizeof(void *);
        if (!type_die(die, &type->where)) {
            type->where.addr = NULL;
        }
        break;
    default:
        type->name = tms_symbol_texts_keep(types->texts, spelling(dwarf_diename(die)));
        number_of(die, DW_AT_byte_size, &type->size);
        break;
    }
}

static const struct tms_type *build(struct tms_types *types, Dwarf_Die *die, int depth)
{
    const void *key = die->addr;
    const struct tms_type *built = depth < DEEPEST ? find_built(types, key) : NULL;

    if (depth >= DEEPEST || built != NULL) {
        return built;
    }
    struct tms_type *type = tms_symbol_texts_room(types->texts, sizeof(*type));
    if (type == NULL || !add_built(types, key, type)) { /* before its parts, to stop at cycles */
        return NULL;
    }
    build_by_tag(types, die, type, depth);
    type->built = true;
    return type;
}

const struct tms_type *tms_types_at(struct tms_types *types, Dwarf_Die *entry)
{
    return build(types, entry, 0);
}

const struct tms_type *tms_types_of(struct tms_types *types, Dwarf_Die *entry)
{
    Dwarf_Die type;

    return type_die(entry, &type) ? build(types, &type, 0) : NULL;
}

const struct tms_type *tms_types_pointee(struct tms_types *types, const struct tms_type *pointer)
{
    if (pointer == NULL || pointer->kind != TMS_TYPE_POINTER || pointer->where.addr == NULL) {
        return NULL;
    }
    Dwarf_Die die = pointer->where;
    return build(types, &die, 0);
}

/* Identical types with the same name count as one. */
const struct tms_type *tms_types_named(struct tms_types *types, const char *name, size_t length,
                                       uint64_t size)
{
    const struct tms_type *found = NULL;
    size_t count;
    const struct tms_type_entry *entry =
        tms_type_index_find(&types->index, types->dwarf, name, length, &count);

    for (size_t i = 0; i < count; i++) {
        Dwarf_Die die = entry[i].die;
        const struct tms_type *type = build(types, &die, 0);
        if (type == NULL || type->size == 0 || type->name == NULL || size % type->size != 0) {
            continue;
        }
        if (found != NULL && (found->size != type->size || strcmp(found->name, type->name) != 0)) {
            return NULL;
        }
        found = found != NULL ? found : type;
    }
    return found;
}
