/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theorem 3: windows and points on one variable (blocks.h). A window that some point can come
 * between is reported once, with the first such point.
 */
#include "lockset/blocks.h"

/* Can no serial order explain that the point came into the window? */
static bool is_pattern(enum tms_blocks_what window, enum tms_blocks_what point)
{
    switch (window) {
    case WINDOW_READ_READ:
    case WINDOW_WRITE_READ:
        return point != POINT_READ;
    case WINDOW_WRITE_WRITE:
        return point == POINT_READ;
    default:
        return point == POINT_FINAL;
    }
}

/* Points of this class can come into windows of that: which of them do, and were not known to? */
static void compare_uses(struct tms_blocks_engine *b, const struct tms_blocks_class *windows,
                         const struct tms_blocks_class *points)
{
    for (uint32_t i = windows->uses; i != 0;) {
        struct tms_blocks_use *window = tms_blocks_use(b, i);
        uint32_t found = window->cut ? 0 : tms_blocks_parallel_use(b, points, window->key.period);
        if (found != 0) {
            window->cut = true;
            tms_blocks_report_one(b, window, tms_blocks_use(b, found));
        }
        i = window->next;
    }
}

static void compare_class(struct tms_blocks_engine *b, const struct tms_blocks_class *windows)
{
    int kind = windows->key.what == WINDOW_WRITE_WRITE ? KIND_READ : KIND_WRITE;

    if (tms_blocks_kept_out(b, windows->key.cell, kind, windows->key.held)) {
        return;
    }
    for (uint32_t i = b->cells[windows->key.cell].points; i != 0;) {
        const struct tms_blocks_class *points = tms_blocks_class(b, i);
        if (is_pattern(windows->key.what, points->key.what) &&
            !tms_blocks_apart(b, windows->key.held, points->key.held)) {
            compare_uses(b, windows, points);
        }
        i = points->next;
    }
}

void tms_blocks_compare_one(struct tms_blocks_engine *b)
{
    for (size_t i = 1; i < b->cell_count && !b->host->failed; i++) {
        if (tms_blocks_contended(b, (uint32_t)i)) {
            for (uint32_t j = b->cells[i].windows; j != 0; j = tms_blocks_class(b, j)->next) {
                compare_class(b, tms_blocks_class(b, j));
            }
        }
    }
}
