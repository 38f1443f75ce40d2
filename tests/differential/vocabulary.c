/* SPDX-License-Identifier: Apache-2.0 */
/* The names of random traces; see vocabulary.h. */
#include "vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

static const char *const variable_names[TMS_VARIABLES] = {
    "x0",  "x1",  "x2", "x3",   "x4",    "x5",  "x6",     "x7",   "x8",      "x9",
    "x10", "x11", "o1", "o1.f", "o1[2]", "o1x", "o1.f.g", "o2.f", "o2[0].f",
};
static const char *const object_names[TMS_OBJECTS] = {"o1", "o2", "o1.f"};
static const char *const label_names[TMS_LABELS] = {"main", "deposit", "withdraw", "audit"};

static bool intern(struct tms_context *context, enum tms_class cls, const char *name, uint32_t *id)
{
    int64_t made = tms_intern(context, cls, name, strlen(name));

    *id = made > 0 ? (uint32_t)made : 0;
    return made > 0;
}

static bool intern_numbered(struct tms_context *context, enum tms_class cls, const char *letter,
                            uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s%zu", letter, i);
        if (!intern(context, cls, name, &ids[i])) {
            return false;
        }
    }
    return true;
}

/* From the last to the first: variables that are allocated and freed get the ids of locks. */
static bool intern_listed(struct tms_context *context, enum tms_class cls, const char *const *names,
                          uint32_t *ids, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        if (!intern(context, cls, names[i], &ids[i])) {
            return false;
        }
    }
    return true;
}

struct tms_vocabulary *tms_vocabulary_new(struct tms_context *context)
{
    struct tms_vocabulary *words = calloc(1, sizeof(*words));

    if (words != NULL &&
        intern_numbered(context, TMS_CLASS_THREAD, "T", words->threads, TMS_THREADS) &&
        intern_numbered(context, TMS_CLASS_LOCK, "m", words->locks, TMS_LOCKS) &&
        intern_numbered(context, TMS_CLASS_CONDITION, "c", words->conditions, TMS_CONDITIONS) &&
        intern_numbered(context, TMS_CLASS_BARRIER, "b", words->barriers, TMS_BARRIERS) &&
        intern_numbered(context, TMS_CLASS_CHANNEL, "p", words->channels, TMS_CHANNELS) &&
        intern_listed(context, TMS_CLASS_VARIABLE, variable_names, words->variables,
                      TMS_VARIABLES) &&
        intern_listed(context, TMS_CLASS_OBJECT, object_names, words->objects, TMS_OBJECTS) &&
        intern_listed(context, TMS_CLASS_LABEL, label_names, words->labels, TMS_LABELS)) {
        return words;
    }
    free(words);
    return NULL;
}

void tms_vocabulary_free(struct tms_vocabulary *vocabulary)
{
    free(vocabulary);
}
