/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the history; see stored_results.h. */
#include "cli/stored_results.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"

/* The numbers of the chosen results that have a document. */
struct chosen {
    uint64_t *ids;
    size_t count, unkept;
    bool failed; /* memory is short */
};

static void choose(void *user, const struct tms_history_result *result)
{
    struct chosen *chosen = user;

    if (!result->kept) {
        chosen->unkept++;
        return;
    }
    uint64_t *ids = realloc(chosen->ids, (chosen->count + 1) * sizeof(*ids));
    if (ids == NULL) {
        chosen->failed = true;
        return;
    }
    chosen->ids = ids;
    chosen->ids[chosen->count++] = result->id;
}

static bool is_suppressed(void *user, const char *id)
{
    const struct tms_timeline_finding *finding = tms_timeline_find(user, id);

    return finding != NULL && finding->suppressed_why != NULL;
}

/* False after a sentence. */
static bool load(struct tms_stored_results *stored, struct tms_history *history, uint64_t result)
{
    char name[48], reason[TMS_SAVED_REASON];
    size_t size = 0;
    char *text = tms_document_load(history, result, &size);

    if (text == NULL) {
        tms_say("%s", history->reason);
        return false;
    }
    snprintf(name, sizeof(name), "result %llu of the history", (unsigned long long)result);
    struct tms_saved *saved = &stored->saved[stored->count++];
    bool good = tms_saved_parse(saved, name, text, size, reason);
    free(text);
    if (good) {
        tms_saved_suppress(saved, is_suppressed, &stored->over_time.timeline);
    } else {
        tms_say("%s", reason);
    }
    return good;
}

static int refuse_nothing(const struct tms_history_choice *choice, size_t unkept)
{
    if (unkept > 0) {
        return tms_bad("the history has only the counts of these results: they were imported by an "
                       "older tmesis, or pruned with --keep-details; import their files again");
    }
    if (choice->result != 0) {
        return tms_bad("the history has no result %llu; tmesis history results shows those it has",
                       (unsigned long long)choice->result);
    }
    return choice->name != NULL
               ? tms_bad("the history has no result with the label or revision %s; tmesis history "
                         "results shows those it has",
                         choice->name)
               : tms_bad("the history is empty");
}

static int load_chosen(struct tms_stored_results *stored, struct tms_history *history,
                       const struct chosen *chosen)
{
    bool good = true;

    stored->unkept = chosen->unkept;
    stored->saved = calloc(chosen->count, sizeof(*stored->saved));
    if (stored->saved == NULL) {
        return tms_bad("out of memory");
    }
    for (size_t i = 0; i < chosen->count && good; i++) {
        good = load(stored, history, chosen->ids[i]);
    }
    return good ? TMS_EXIT_OK : TMS_EXIT_BAD;
}

int tms_stored_results_open(struct tms_stored_results *stored, const char *path,
                            const struct tms_history_choice *choice)
{
    struct tms_history history;
    struct chosen chosen = {0};
    int status;

    *stored = (struct tms_stored_results){0};
    if (!tms_history_open(&history, path, TMS_HISTORY_READ) ||
        !tms_timeline_load(&stored->over_time, &history, choice) ||
        !tms_history_results(&history, choice, choose, &chosen)) {
        status = tms_bad("%s", history.reason);
    } else if (chosen.failed) {
        status = tms_bad("out of memory");
    } else {
        status = chosen.count > 0 ? load_chosen(stored, &history, &chosen)
                                  : refuse_nothing(choice, chosen.unkept);
    }
    free(chosen.ids);
    tms_history_close(&history);
    return status;
}

void tms_stored_results_free(struct tms_stored_results *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        tms_saved_close(&stored->saved[i]);
    }
    free(stored->saved);
    tms_timeline_free(&stored->over_time);
}
