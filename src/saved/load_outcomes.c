/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how the runs of a hunt ended (docs/user/hunting.md, "outcomes"). */
#include "saved/load_outcomes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_status(FILE *out, int number)
{
    fprintf(out, "status %d", number);
}

static void put_signal(FILE *out, int number)
{
    const char *name = sigabbrev_np(number);

    if (name != NULL) {
        fprintf(out, "SIG%s", name);
    } else {
        fprintf(out, "signal %d", number);
    }
}

static void put_timeout(FILE *out, int number)
{
    (void)number;
    fputs("took too long", out);
}

static const struct ending {
    const char *kind, *member;
    void (*put)(FILE *out, int number);
} endings[] = {{"status", "status", put_status},
               {"signal", "signal", put_signal},
               {"timeout", "timeout", put_timeout}};

/* Nothing for an outcome that is not a failure. */
static void put_outcome(struct tms_loading *loading, FILE *out, const json_t *outcome)
{
    const char *kind = tms_load_text(loading, outcome, "kind");

    for (size_t i = 0; kind != NULL && i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (strcmp(endings[i].kind, kind) == 0) {
            fputs(ftell(out) > 0 ? ", " : "", out);
            endings[i].put(out, (int)tms_load_number(loading, outcome, endings[i].member));
        }
    }
}

const char *tms_saved_failures(struct tms_loading *loading, const json_t *hunt)
{
    const json_t *outcomes = tms_load_array(loading, hunt, "outcomes");
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (out == NULL) {
        tms_loading_fail_memory(loading);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(outcomes); i++) {
        put_outcome(loading, out, json_array_get(outcomes, i));
    }
    bool good = fclose(out) == 0;
    const char *kept = good && length > 0 ? tms_loading_keep(loading, text) : NULL;
    if (!good) {
        tms_loading_fail_memory(loading);
    }
    free(text);
    return kept;
}
