/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the variables and synchronisation objects of a trace (spool_trace.h lists the forms).
 * Different ones have different names, and each name is built once, at the first use.
 *
 * A recording may have millions of them, most of them bytes of a few blocks or arrays. So names are
 * built in one buffer, which keeps the common start for the next name.
 */
#ifndef TMS_SPOOL_VARIABLE_NAMES_H
#define TMS_SPOOL_VARIABLE_NAMES_H

#include "spool/address_map.h"
#include "spool/spool_names.h"

/* The start of the text in the buffer: the common part of the names of one object. */
struct tms_variable_names_start {
    const char *prefix; /* of semaphores and the like; NULL: nothing is kept */
    uint32_t block;     /* of the heap; 0: it is a variable of the program */
    const char *name;   /* of the variable, */
    uint64_t address;   /* and where it is */
    struct tms_allocation allocation;
    size_t length;
};

struct tms_variable_names {
    struct tms_spool_names *names;
    const struct tms_address_map *places;
    uint64_t *owners; /* by id of TMS_CLASS_OBJECT: the address that took the name, 0: none */
    size_t owner_count;
    char *text;
    size_t length, capacity;
    struct tms_variable_names_start start;
};

void tms_variable_names_free(struct tms_variable_names *naming);

/* Marks memory; may be combined with the kind of object that it is used as. */
#define TMS_NAMING_MEMORY 8u

/* A variable or object to be named. */
struct tms_named_thing {
    enum tms_class cls;
    unsigned what; /* enum tms_rt_sync, with TMS_NAMING_MEMORY if it is memory */
    const struct tms_mapped_origin *origin;
    uint64_t event;          /* its number in the spool; 0: irrelevant */
    uint64_t address, bytes; /* 0 bytes: an object of unknown size */
};

/* Its id in `cls`. 0: `failed` is set. */
uint32_t tms_variable_name(struct tms_variable_names *naming, const struct tms_named_thing *thing);

#endif
