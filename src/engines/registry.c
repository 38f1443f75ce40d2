/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines, in the order of `tmesis engines`. A new one needs two lines here, its declaration
 * and its row; docs/internals/extending.md has the whole recipe.
 */
#include <string.h>

#include "engine_api/engine.h"

extern const struct tms_engine tms_engine_frontier;
extern const struct tms_engine tms_engine_reference;
extern const struct tms_engine tms_engine_velodrome;
extern const struct tms_engine tms_engine_aerodrome_basic;
extern const struct tms_engine tms_engine_aerodrome;
extern const struct tms_engine tms_engine_regiontrack;
extern const struct tms_engine tms_engine_regiontrack_reduced;
extern const struct tms_engine tms_engine_regiontrack_trace;
extern const struct tms_engine tms_engine_regiontrack_blame;
extern const struct tms_engine tms_engine_doublechecker;
extern const struct tms_engine tms_engine_judge;
extern const struct tms_engine tms_engine_sidetrack;
extern const struct tms_engine tms_engine_fasttrack;
extern const struct tms_engine tms_engine_goodlock;
extern const struct tms_engine tms_engine_atomizer;
extern const struct tms_engine tms_engine_reduction;
extern const struct tms_engine tms_engine_blocks;

const struct tms_engine *const tms_engines[] = {
    &tms_engine_frontier,
    &tms_engine_reference,
    &tms_engine_velodrome,
    &tms_engine_aerodrome_basic,
    &tms_engine_aerodrome,
    &tms_engine_regiontrack,
    &tms_engine_regiontrack_reduced,
    &tms_engine_regiontrack_trace,
    &tms_engine_regiontrack_blame,
    &tms_engine_doublechecker,
    &tms_engine_judge,
    &tms_engine_sidetrack,
    &tms_engine_fasttrack,
    &tms_engine_goodlock,
    &tms_engine_atomizer,
    &tms_engine_reduction,
    &tms_engine_blocks,
    NULL,
};

const struct tms_engine *tms_engine_find(const char *name, size_t length)
{
    for (size_t i = 0; tms_engines[i] != NULL; i++) {
        const char *known = tms_engines[i]->info.name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return tms_engines[i];
        }
    }
    return NULL;
}

const struct tms_engine_info *tms_engine_info(size_t index)
{
    size_t count = sizeof(tms_engines) / sizeof(tms_engines[0]) - 1;

    return index < count ? &tms_engines[index]->info : NULL;
}
