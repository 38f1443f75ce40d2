/* SPDX-License-Identifier: Apache-2.0 */
/* Types of allocated memory; see assigned.h. */
#include "symbol/assigned.h"

#include <ctype.h>
#include <string.h>

#include "symbol/function.h"
#include "symbol/statement.h"

struct question {
    struct tms_module *module;
    struct tms_types *types;
    struct tms_symbol_texts *texts;
    Dwarf_Die function;
    uint64_t size;
};

static bool is_word(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

/* ---- expressions -------------------------------------------------------------------------- */

/* A variable of the function, a member of its object, or a variable of the file. */
static const struct tms_type *type_of_name(struct question *question, const char *name,
                                           size_t length)
{
    struct tms_types *types = question->types;
    const struct tms_type *type = tms_function_variable(types, &question->function, name, length);
    const struct tms_type *object =
        type == NULL ? tms_function_variable(types, &question->function, "this", 4) : NULL;

    if (type == NULL && object != NULL) {
        type = tms_type_member(tms_types_pointee(types, object), name, length);
    }
    const struct tms_module_variable *variable =
        type == NULL ? tms_module_variable(question->module, question->texts, name, length) : NULL;
    if (variable != NULL) {
        Dwarf_Die die = variable->die;
        type = tms_types_of(types, &die);
    }
    return type;
}

static const struct tms_type *element_of(struct tms_types *types, const struct tms_type *type)
{
    return type != NULL && type->kind == TMS_TYPE_ARRAY ? type->target
                                                        : tms_types_pointee(types, type);
}

/* "[i]": skips to the text after it. */
static const char *skip_index(const char *at, const char *end)
{
    int depth = 0;

    do {
        depth += *at == '[';
        depth -= *at == ']';
        at++;
    } while (at < end && depth > 0);
    return at;
}

/* The type of "list->items[i].head"; NULL: unknown. */
static const struct tms_type *type_of(struct question *question, struct tms_words words)
{
    const char *at = words.text, *end = at + words.length, *from = at;
    const struct tms_type *type = NULL;
    bool first = true;

    while (at < end && (first || type != NULL)) {
        if (*at == '[') {
            at = skip_index(at, end);
            type = element_of(question->types, type);
            continue;
        }
        if (*at == '-' || *at == '.') {
            type = *at == '-' ? tms_types_pointee(question->types, type) : type;
            at += *at == '-' ? 2 : 1;
        }
        for (from = at; at < end && is_word(*at);) {
            at++;
        }
        if (at == from) {
            return NULL;
        }
        type = first ? type_of_name(question, from, (size_t)(at - from))
                     : tms_type_member(type, from, (size_t)(at - from));
        first = false;
    }
    return type;
}

/* ---- inference ---------------------------------------------------------------------------- */

static bool set(struct question *question, const struct tms_type *type,
                struct tms_assigned *assigned)
{
    bool fits = type != NULL && type->size != 0 &&
                (question->size % type->size == 0 ||
                 (type->kind == TMS_TYPE_RECORD && question->size > type->size));

    if (fits) {
        assigned->name = tms_function_type_name(question->types, type);
        assigned->type = assigned->name != NULL ? type : NULL;
    }
    return assigned->type != NULL;
}

/* Of several new expressions takes the one whose type has exactly the size. */
static bool by_new(struct question *question, const struct tms_statement *statement,
                   struct tms_assigned *assigned)
{
    const struct tms_type *found = NULL;

    for (size_t i = 0; i < statement->new_count; i++) {
        const struct tms_words *name = &statement->news[i];
        const uint64_t cookie = sizeof(size_t);
        const struct tms_type *type =
            tms_types_named(question->types, name->text, name->length, question->size);
        if (type == NULL && question->size > cookie) {
            type =
                tms_types_named(question->types, name->text, name->length, question->size - cookie);
        }
        if (found != NULL && type != NULL && type != found) {
            return false;
        }
        found = type != NULL ? type : found;
    }
    if (found != NULL) {
        assigned->name = tms_function_type_name(question->types, found);
        assigned->type = assigned->name != NULL ? found : NULL;
        assigned->by_new = true;
    }
    return assigned->type != NULL;
}

/* Stars before a name belong to the expression or, in a declaration, to the type. */
static bool by_target(struct question *question, const struct tms_statement *statement,
                      struct tms_assigned *assigned)
{
    const struct tms_type *type =
        statement->target.length > 0 ? type_of(question, statement->target) : NULL;
    const struct tms_type *followed = type;

    for (unsigned i = 0; i < statement->stars && followed != NULL; i++) {
        followed = tms_types_pointee(question->types, followed);
    }
    if (followed != type && followed != NULL && followed->kind == TMS_TYPE_POINTER) {
        type = followed;
    }
    return set(question, tms_types_pointee(question->types, type), assigned);
}

static bool by_return(struct question *question, const struct tms_statement *statement,
                      struct tms_assigned *assigned)
{
    const struct tms_type *type =
        statement->returned ? tms_function_returns(question->types, &question->function) : NULL;

    return set(question, tms_types_pointee(question->types, type), assigned);
}

static bool by_size(struct question *question, const struct tms_statement *statement,
                    struct tms_assigned *assigned)
{
    const struct tms_words *name = &statement->sized;

    return name->length > 0 &&
           set(question, tms_types_named(question->types, name->text, name->length, question->size),
               assigned);
}

void tms_module_assigned(struct tms_module *module, struct tms_symbol_texts *texts,
                         uint64_t address, size_t index, const struct tms_frame *frame,
                         const char *callee, uint64_t size, struct tms_assigned *assigned)
{
    struct question question = {
        .module = module, .types = &module->types, .texts = texts, .size = size};
    struct tms_statement_place place = {.column = frame->column, .callee = callee};
    struct tms_statement statement;

    *assigned = (struct tms_assigned){0};
    if (frame->path == NULL || !tms_module_function(module, address, index, &question.function) ||
        !tms_symbol_texts_code(texts, frame->path, frame->line, &place.code) ||
        !tms_statement_read(&place, &statement)) {
        return;
    }
    if (!by_new(&question, &statement, assigned) && !by_target(&question, &statement, assigned) &&
        !by_return(&question, &statement, assigned)) {
        by_size(&question, &statement, assigned);
    }
}
