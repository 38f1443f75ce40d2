/* SPDX-License-Identifier: Apache-2.0 */
/* Names of objects at addresses; see object_names.h. */
#include "spool/object_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* "heap:new_account:account#2.lock", as in recordings. */
static void write_heap(struct tms_spool_names *names, FILE *out,
                       const struct tms_recorded_block *heap, uint64_t address,
                       enum tms_name_style style)
{
    const struct tms_heap_name *name = tms_heap_name(names, heap->site, heap->size);
    char path[TMS_PATH_SIZE];

    if (name == NULL) {
        names->failed = true;
        return;
    }
    size_t length = tms_allocation_path(&name->allocation, address - heap->address, 0, path);
    fputs(name->text, out);
    if (style != TMS_NAME_AS_ALIAS) {
        fprintf(out, "#%" PRIu32, heap->number);
    }
    fwrite(path, 1, length, out);
}

static void write_datum(FILE *out, const struct tms_datum *datum, bool declared)
{
    char path[TMS_PATH_SIZE];
    size_t length = tms_type_path(datum->type, datum->offset, 0, path);

    fputs(datum->name, out);
    fwrite(path, 1, length, out);
    if (declared && datum->file != NULL) {
        fprintf(out, " (%s:%u)", datum->file, datum->line);
    }
}

/* Memory that is not a variable of the program. `heap` NULL: nor in a recorded block. */
static void write_memory(struct tms_spool_names *names, FILE *out,
                         const struct tms_recorded_block *heap, uint64_t address,
                         enum tms_name_style style)
{
    const struct tms_spool_thread *owner = tms_spool_stack_owner(names->spool, address);

    if (heap != NULL) {
        write_heap(names, out, heap, address, style);
    } else if (owner != NULL) {
        fprintf(out, "stack:%s", tms_spool_start_function(names, owner));
        if (style != TMS_NAME_AS_ALIAS) {
            fprintf(out, "#%" PRIu32 "+%" PRIu64, owner->index, owner->stack_end - address);
        }
    } else if (style == TMS_NAME_AS_ALIAS) {
        fputs("memory", out);
    } else {
        fprintf(out, "memory+0x%" PRIx64, address);
    }
}

static void write_thing(struct tms_spool_names *names, FILE *out, enum tms_class cls,
                        uint64_t address, const struct tms_recorded_block *heap,
                        enum tms_name_style style)
{
    const char *given = tms_spool_given_name(names->spool, address);
    bool variable = cls == TMS_CLASS_VARIABLE;
    struct tms_datum datum;

    if (given != NULL) {
        fputs(given, out);
    } else if (tms_symbols_datum(names->symbols, address, &datum)) {
        write_datum(out, &datum, !variable && style == TMS_NAME_FOR_PEOPLE);
    } else {
        write_memory(names, out, heap, address, style);
    }
}

uint32_t tms_spool_name_near(struct tms_spool_names *names, uint32_t sequence, enum tms_class cls,
                             uint64_t address, enum tms_name_style style)
{
    char *text = NULL;
    size_t size;
    uint32_t id = 0;

    if (cls == TMS_CLASS_THREAD) {
        return tms_spool_thread(names, (uint32_t)address);
    }
    if (cls <= TMS_CLASS_NONE || cls > TMS_CLASS_OBJECT) {
        return 0;
    }
    const struct tms_recorded_block *heap = tms_recorded_block_near(names, sequence, address);
    FILE *out = open_memstream(&text, &size);
    if (out != NULL) {
        write_thing(names, out, cls, address, heap, style);
    }
    if (out == NULL || fclose(out) != 0) {
        names->failed = true;
    } else {
        id = tms_spool_intern(names, cls, text);
    }
    free(text);
    return id;
}
