/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variables and objects; see variable_names.h. */
#include "spool/variable_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/core/rt.h"

void tms_variable_names_free(struct tms_variable_names *naming)
{
    free(naming->owners);
    free(naming->text);
    *naming = (struct tms_variable_names){0};
}

/* ---- the buffer --------------------------------------------------------------------------- */

static void put(struct tms_variable_names *naming, const char *text, size_t length)
{
    if (!TMS_RESERVE(NULL, &naming->text, &naming->capacity, naming->length + length + 1, 256)) {
        naming->names->failed = true;
        return;
    }
    memcpy(naming->text + naming->length, text, length);
    naming->length += length;
}

static void put_text(struct tms_variable_names *naming, const char *text)
{
    put(naming, text, strlen(text));
}

/* Blanks and bars, which not every format can hold, are replaced. */
static void put_plain(struct tms_variable_names *naming, const char *text)
{
    size_t from = naming->length;

    put_text(naming, text);
    for (char *at = naming->text + from; at < naming->text + naming->length; at++) {
        *at = (unsigned char)*at <= ' ' || *at == '|' || *at == 0x7f ? '_' : *at;
    }
}

static inline void put_number(struct tms_variable_names *naming, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    put(naming, digits + at, sizeof(digits) - at);
}

/* ---- names of the program ----------------------------------------------------------------- */

/* Claims the name at the end of the buffer for this address; false if another address has it. */
static bool claim(struct tms_variable_names *naming, size_t from, uint64_t address)
{
    int64_t id = tms_intern(naming->names->context, TMS_CLASS_OBJECT, naming->text + from,
                            naming->length - from);

    if (id < 0 || !TMS_RESERVE(NULL, &naming->owners, &naming->owner_count, (size_t)id + 1, 64)) {
        naming->names->failed = true;
        return false;
    }
    if (naming->owners[id] == 0) {
        naming->owners[id] = address;
    }
    return naming->owners[id] == address;
}

/* `name`, or name#2, name#3 …: one that no other address has. */
static void put_distinct(struct tms_variable_names *naming, const char *name, uint64_t address)
{
    size_t from = naming->length;
    bool claimed = false;

    for (unsigned i = 1; !claimed && !naming->names->failed; i++) {
        naming->length = from;
        put_plain(naming, name);
        if (i > 1) {
            put_text(naming, "#");
            put_number(naming, i, 10);
        }
        claimed = claim(naming, from, address);
    }
}

/* ---- starts ------------------------------------------------------------------------------- */

/* Does this name share the start of the last one, so that it need not be built again? */
static bool is_kept(struct tms_variable_names *naming,
                    const struct tms_variable_names_start *wanted)
{
    const struct tms_variable_names_start *kept = &naming->start;
    bool same = kept->prefix == wanted->prefix && kept->block == wanted->block &&
                kept->name == wanted->name && kept->address == wanted->address;

    naming->length = same ? kept->length : 0;
    if (!same) {
        put_text(naming, wanted->prefix);
    }
    return same;
}

static void keep(struct tms_variable_names *naming, struct tms_variable_names_start start)
{
    start.length = naming->length;
    naming->start = start;
}

/* "heap:new_account:account#2.lock": it needs no renewal, since it has the number of the block. */
static void put_block(struct tms_variable_names *naming, const char *prefix,
                      const struct tms_named_thing *thing)
{
    uint32_t number = thing->origin->block;
    const struct tms_mapped_block *block = &naming->places->blocks[number - 1];
    struct tms_variable_names_start start = {.prefix = prefix, .block = number};
    char path[TMS_PATH_SIZE];

    if (!is_kept(naming, &start)) {
        const struct tms_heap_name *name = tms_heap_name(naming->names, block->site, block->size);
        if (name == NULL) {
            naming->names->failed = true;
            return;
        }
        put_text(naming, name->text);
        put_text(naming, "#");
        put_number(naming, number, 10);
        start.allocation = name->allocation;
        keep(naming, start);
    }
    put(naming, path,
        tms_allocation_path(&naming->start.allocation, thing->address - block->start, thing->bytes,
                            path));
}

/* The same where allocations were not recorded, but the heap block of a lock was. */
static bool put_recorded(struct tms_variable_names *naming, const char *prefix,
                         const struct tms_named_thing *thing)
{
    const struct tms_recorded_block *recorded =
        thing->event != 0 ? tms_recorded_block(naming->names, thing->address, thing->event) : NULL;
    const struct tms_heap_name *name =
        recorded != NULL ? tms_heap_name(naming->names, recorded->site, recorded->size) : NULL;
    char path[TMS_PATH_SIZE];

    if (name == NULL) {
        return false;
    }
    naming->start.prefix = NULL;
    naming->length = 0;
    put_text(naming, prefix);
    put_text(naming, name->text);
    put_text(naming, "#");
    put_number(naming, recorded->number, 10);
    put(naming, path,
        tms_allocation_path(&name->allocation, thing->address - recorded->address, 0, path));
    return true;
}

static void put_datum(struct tms_variable_names *naming, const char *prefix,
                      const struct tms_datum *datum, const struct tms_named_thing *thing)
{
    struct tms_variable_names_start start = {
        .prefix = prefix, .name = datum->name, .address = datum->home};
    char path[TMS_PATH_SIZE];

    if (!is_kept(naming, &start)) {
        put_distinct(naming, datum->name, start.address);
        keep(naming, start);
    }
    put(naming, path, tms_type_path(datum->type, datum->offset, thing->bytes, path));
}

/* ---- other memory ------------------------------------------------------------------------- */

/* "stack:worker#2+120": 120 bytes from the end of the stack of the second thread. */
static bool put_stack(struct tms_variable_names *naming, uint64_t address)
{
    const struct tms_spool_thread *thread = tms_spool_stack_owner(naming->names->spool, address);

    if (thread == NULL) {
        return false;
    }
    put_text(naming, "stack:");
    put_plain(naming, tms_spool_start_function(naming->names, thread));
    put_text(naming, "#");
    put_number(naming, thread->index, 10);
    put_text(naming, "+");
    put_number(naming, thread->stack_end - address, 10);
    return true;
}

/* "libfoo.so+4096": in the file, but not a variable of it. */
static bool put_module(struct tms_variable_names *naming, uint64_t address)
{
    uint64_t offset;
    const char *module = tms_symbols_module_at(naming->names->symbols, address, &offset);

    if (module == NULL) {
        return false;
    }
    put_plain(naming, module);
    put_text(naming, "+");
    put_number(naming, offset, 10);
    return true;
}

static void put_unnamed(struct tms_variable_names *naming, const char *prefix, const char *given,
                        uint64_t address)
{
    naming->start.prefix = NULL;
    naming->length = 0;
    put_text(naming, prefix);
    if (given != NULL) {
        put_distinct(naming, given, address);
    } else if (!put_stack(naming, address) && !put_module(naming, address)) {
        put_text(naming, "memory+0x");
        put_number(naming, address, 16);
    }
}

/* ---- the name ----------------------------------------------------------------------------- */

/* The prefix of an object's name, if it shares a namespace with the variables of the trace. */
static const char *prefix_of(unsigned what)
{
    unsigned sync = what & ~TMS_NAMING_MEMORY;

    return sync == TMS_RT_SEMAPHORE ? "semaphore:" : sync == TMS_RT_ONCE ? "once:" : "";
}

static void put_name(struct tms_variable_names *naming, const char *prefix,
                     const struct tms_named_thing *thing)
{
    const char *given = tms_spool_given_name(naming->names->spool, thing->address);
    struct tms_datum datum;

    if (given == NULL && thing->origin->block != 0) {
        put_block(naming, prefix, thing);
        return;
    }
    if (given == NULL && tms_symbols_datum(naming->names->symbols, thing->address, &datum)) {
        put_datum(naming, prefix, &datum, thing);
    } else if (given != NULL || !put_recorded(naming, prefix, thing)) {
        put_unnamed(naming, prefix, given, thing->address);
    }
    if (thing->origin->renewal != 0) {
        put_text(naming, "@");
        put_number(naming, thing->origin->renewal, 10);
    }
}

uint32_t tms_variable_name(struct tms_variable_names *naming, const struct tms_named_thing *thing)
{
    const char *prefix = prefix_of(thing->what);

    put_name(naming, prefix, thing);
    /* Objects that are recreated in a heap block keep their name; memory never does. */
    bool is_new = thing->cls == TMS_CLASS_VARIABLE && (thing->what & TMS_NAMING_MEMORY) != 0;
    int64_t id = naming->names->failed
                     ? TMS_ERR_MEMORY
                     : (is_new ? tms_intern_new : tms_intern)(naming->names->context, thing->cls,
                                                              naming->text, naming->length);
    naming->names->failed = naming->names->failed || id < 0;
    return id < 0 ? 0 : (uint32_t)id;
}
