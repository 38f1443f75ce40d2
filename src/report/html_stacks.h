/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stacks of an HTML report, each once: thousands of steps share a few hundred of them, and
 * written out at each step they were most of the page.
 */
#ifndef TMS_REPORT_HTML_STACKS_H
#define TMS_REPORT_HTML_STACKS_H

#include "base/hashtable.h"
#include "report/exported_finding.h"

struct tms_html_stack {
    const struct tms_page *page; /* how its paths are shown */
    const char *text;
};

/* Zero at first. */
struct tms_html_stacks {
    struct tms_memory memory;
    struct tms_hashtable table; /* over the list, by text */
    struct tms_html_stack *list;
    size_t count, capacity;
    bool failed; /* memory was short */
};

/* The number of a stack in the list that is written, which begins with an empty one. */
size_t tms_html_stack_number(struct tms_html_stacks *stacks, const struct tms_page *page,
                             uint32_t stack);

/* `[[], [{"file": "bank.c", "line": 12, "function": "main"}, …], …]` */
void tms_html_stacks_write(const struct tms_html_stacks *stacks, FILE *out);
void tms_html_stacks_free(struct tms_html_stacks *stacks);

#endif
