/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that documents name: one for each pattern of docs/user/judge.md, and one for each kind
 * of finding of the other engines. Their ids are stable: what filters by them keeps working.
 */
#ifndef TMS_REPORT_EXPORT_RULES_H
#define TMS_REPORT_EXPORT_RULES_H

#include "tmesis/tmesis.h"

struct tms_export_rule {
    const char *id;       /* "lost-update" */
    enum tms_level level; /* the usual one */
    const char *summary;  /* a sentence */
    const char *help;     /* what it means, in general */
    const char *fix;      /* what to do about it, in general */
};

/* The index-th rule; NULL after the last. */
const struct tms_export_rule *tms_export_rule(size_t index);

/* Of a finding; never NULL. `tms_export_rule_index` is its place in the list. */
const struct tms_export_rule *tms_export_rule_of(const struct tms_finding *finding);
size_t tms_export_rule_index(const struct tms_export_rule *rule);

#endif
