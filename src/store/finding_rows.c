/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of findings; see finding_rows.h. */
#include "store/finding_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------ */

/* Rows of a table own their texts. */
static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

static void clear_row(struct tms_finding_row *row)
{
    free_text(row->id);
    free_text(row->block);
    free_text(row->variable);
    free_text(row->patterns);
    free_text(row->place);
}

void tms_finding_rows_clear(struct tms_finding_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        clear_row(&rows->at[i]);
    }
    free(rows->at);
    *rows = (struct tms_finding_rows){0};
}

static bool make_room(struct tms_finding_rows *rows)
{
    size_t capacity = rows->capacity != 0 ? 2 * rows->capacity : 64;

    if (rows->count < rows->capacity) {
        return true;
    }
    struct tms_finding_row *at = realloc(rows->at, capacity * sizeof(*at));
    if (at != NULL) {
        rows->at = at;
        rows->capacity = capacity;
    }
    return at != NULL;
}

bool tms_finding_rows_add(struct tms_finding_rows *rows, const struct tms_finding_row *row)
{
    struct tms_finding_row copy = *row;

    if (!make_room(rows)) {
        return false;
    }
    copy.id = strdup(row->id);
    copy.block = strdup(row->block);
    copy.variable = strdup(row->variable);
    copy.patterns = strdup(row->patterns);
    copy.place = strdup(row->place);
    if (copy.id == NULL || copy.block == NULL || copy.variable == NULL || copy.patterns == NULL ||
        copy.place == NULL) {
        clear_row(&copy);
        return false;
    }
    rows->at[rows->count++] = copy;
    return true;
}

/* ---- comparison ----------------------------------------------------------------------------- */

/* A row and its table. */
struct candidate {
    const struct tms_finding_row *row;
    bool after;
};

static bool takes_part(const struct tms_finding_row *row, const struct tms_row_filter *filter)
{
    return !row->suppressed && (filter->notes || row->level != TMS_LEVEL_NOTE) &&
           (filter->predicted || row->evidence == TMS_EVIDENCE_OBSERVED);
}

/* Findings without a block are compared by id. */
static const char *key_of(const struct tms_finding_row *row)
{
    return row->block[0] != '\0' ? row->block : row->id;
}

/* By block; the earlier table first, and in each of them the most severe finding. */
static int by_block(const void *a, const void *b)
{
    const struct candidate *one = a, *two = b;
    int order = strcmp(key_of(one->row), key_of(two->row));

    if (order == 0) {
        order = (int)one->after - (int)two->after;
    }
    if (order == 0) {
        order = (int)two->row->level - (int)one->row->level;
    }
    if (order == 0) {
        order = (int)one->row->evidence - (int)two->row->evidence;
    }
    return order != 0 ? order : strcmp(one->row->id, two->row->id);
}

static int by_change(const void *a, const void *b)
{
    const struct tms_row_difference *one = a, *two = b;

    if (one->change != two->change) {
        return one->change < two->change ? -1 : 1;
    }
    if (one->row->level != two->row->level) {
        return one->row->level > two->row->level ? -1 : 1;
    }
    return strcmp(key_of(one->row), key_of(two->row));
}

static size_t gather(const struct tms_finding_rows *rows, bool after,
                     const struct tms_row_filter *filter, struct candidate *to)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (takes_part(&rows->at[i], filter)) {
            to[count++] = (struct candidate){&rows->at[i], after};
        }
    }
    return count;
}

static struct tms_row_difference difference_of(const struct tms_finding_row *before,
                                               const struct tms_finding_row *after)
{
    if (after == NULL) {
        return (struct tms_row_difference){TMS_ROW_GONE, before};
    }
    if (before == NULL) {
        return (struct tms_row_difference){TMS_ROW_NEW, after};
    }
    return (struct tms_row_difference){after->level > before->level ? TMS_ROW_WORSE : TMS_ROW_STILL,
                                       after};
}

/* Combines the candidates of one block into one difference; returns their number. */
static size_t take_block(const struct candidate *from, size_t left, struct tms_row_difference *to)
{
    const struct tms_finding_row *before = NULL, *after = NULL;
    size_t taken = 0;

    while (taken < left && strcmp(key_of(from[taken].row), key_of(from->row)) == 0) {
        const struct tms_finding_row **first = from[taken].after ? &after : &before;
        *first = *first == NULL ? from[taken].row : *first;
        taken++;
    }
    assert(taken > 0);
    *to = difference_of(before, after);
    return taken;
}

bool tms_finding_rows_compare(const struct tms_finding_rows *before,
                              const struct tms_finding_rows *after,
                              const struct tms_row_filter *filter,
                              struct tms_row_differences *differences)
{
    size_t most = before->count + after->count, count = 0;
    struct candidate *candidates = calloc(most + 1, sizeof(*candidates));

    differences->count = 0;
    differences->at = calloc(most + 1, sizeof(*differences->at));
    if (candidates == NULL || differences->at == NULL) {
        free(candidates);
        free(differences->at);
        differences->at = NULL;
        return false;
    }
    count = gather(before, false, filter, candidates);
    count += gather(after, true, filter, candidates + count);
    qsort(candidates, count, sizeof(*candidates), by_block);
    for (size_t i = 0; i < count;) {
        i += take_block(&candidates[i], count - i, &differences->at[differences->count++]);
    }
    qsort(differences->at, differences->count, sizeof(*differences->at), by_change);
    free(candidates);
    return true;
}
