/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents for other programs: SARIF, JUnit and the like. A format is one file that writes a
 * sorted list of findings to a stream, its prototype below, and a row in export.c. What all of them
 * say about a finding comes from exported_finding.h, so that they agree with each other and with
 * the text.
 */
#ifndef TMS_REPORT_EXPORT_H
#define TMS_REPORT_EXPORT_H

#include <stdio.h>

#include "report/text_layout.h"

/* A finding that no other one replaces. */
struct tms_export_entry {
    const struct tms_export_part *part;
    struct tms_page *page; /* of the part: its names and paths */
    const struct tms_result *result;
    const struct tms_finding *finding;
    enum tms_level level;
    const struct tms_timeline_finding *over_time; /* NULL: nothing is known of other results */
    bool several;                                 /* the document is about several parts */
    size_t rank;                                  /* in the order of parts, engines and findings */
    uint64_t block;                               /* that it is about, … */
    size_t head;  /* … the place of the block's worst finding, … */
    size_t place; /* … and its own, by severity */
    bool heads;   /* it is that finding */
};

/* As the text report counts: each block once, by the finding that heads it. */
struct tms_export_counts {
    size_t levels[TMS_LEVEL_ERROR + 1]; /* errors and warnings that were observed; notes */
    size_t predicted;                   /* errors and warnings that were not */
    size_t races, potential;            /* findings, as all that follows */
    size_t known, suppressed;
    size_t hidden_notes, hidden_races, hidden_potential; /* that tms_export_is_shown leaves out */
};

struct tms_export_job {
    const struct tms_export_part *parts;
    size_t part_count;
    struct tms_page *pages; /* one for each part */
    /*
     * The findings of a block together. Blocks by their heads, in the order of tms_finding_order,
     * then by rank.
     */
    struct tms_export_entry *entries;
    size_t count;
    struct tms_export_counts counts;
    const struct tms_timeline *timeline; /* NULL: nothing is known of other results */
    FILE *out;
};

/*
 * How bad it is: what `judge` says. A finding that it did not judge is a warning, or a note if it
 * is merely potential.
 */
enum tms_level tms_export_level(const struct tms_finding *finding);

/*
 * Formats that a person reads in a hurry leave out what the text does: notes, what is merely
 * potential, and data races, unless the settings ask for them; and what is known or suppressed.
 */
bool tms_export_is_shown(const struct tms_export_entry *entry);

/* TMS_OK or TMS_ERR_MEMORY. */
int tms_export_sarif(const struct tms_export_job *job);
int tms_export_junit(const struct tms_export_job *job);
int tms_export_github(const struct tms_export_job *job);
int tms_export_markdown(const struct tms_export_job *job);
int tms_export_csv(const struct tms_export_job *job);
int tms_export_html(const struct tms_export_job *job);
int tms_export_perfetto(const struct tms_export_job *job);

#endif
