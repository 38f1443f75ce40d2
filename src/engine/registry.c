/* SPDX-License-Identifier: Apache-2.0 */
/* The engines there are. A new engine is its file and one line here. */
#include <string.h>

#include "engine/engine.h"

extern const struct tms_engine tms_engine_frontier;
extern const struct tms_engine tms_engine_reference;

const struct tms_engine *const tms_engines[] = {
    &tms_engine_frontier,
    &tms_engine_reference,
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
