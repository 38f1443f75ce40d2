/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how the runs of a hunt ended (docs/user/hunting.md, "outcomes"). */
#include "saved/load_outcomes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 32

static void write_status(char word[WORD_SIZE], int number)
{
    snprintf(word, WORD_SIZE, "status %d", number);
}

static void write_signal(char word[WORD_SIZE], int number)
{
    const char *name = sigabbrev_np(number);

    if (name != NULL) {
        snprintf(word, WORD_SIZE, "SIG%s", name);
    } else {
        snprintf(word, WORD_SIZE, "signal %d", number);
    }
}

static void write_timeout(char word[WORD_SIZE], int number)
{
    (void)number;
    snprintf(word, WORD_SIZE, "took too long");
}

static const struct ending {
    const char *kind, *member;
    void (*write)(char word[WORD_SIZE], int number);
} endings[] = {{"status", "status", write_status},
               {"signal", "signal", write_signal},
               {"timeout", "timeout", write_timeout}};

/* Is it one of the words of a list with commas between them? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

/* Nothing for an outcome that is no failure, nor for one that differs from others by its text. */
static void put_outcome(struct tms_loading *loading, FILE *out, char *const *text,
                        const json_t *outcome)
{
    const char *kind = tms_load_text(loading, outcome, "kind");
    char word[WORD_SIZE];

    for (size_t i = 0; kind != NULL && i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (strcmp(endings[i].kind, kind) == 0) {
            endings[i].write(word, (int)tms_load_number(loading, outcome, endings[i].member));
            if (fflush(out) == 0 && !has_word(*text, word)) {
                fprintf(out, "%s%s", **text != '\0' ? ", " : "", word);
            }
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
        put_outcome(loading, out, &text, json_array_get(outcomes, i));
    }
    bool good = fclose(out) == 0;
    const char *kept = good && length > 0 ? tms_loading_keep(loading, text) : NULL;
    if (!good) {
        tms_loading_fail_memory(loading);
    }
    free(text);
    return kept;
}
