/* SPDX-License-Identifier: Apache-2.0 */
/* One trace through an analysis; see check_job.h. */
#include "cli/check_job.h"

#include <string.h>

/* ---- options -------------------------------------------------------------------------- */

static const struct tms_option_bit splits[] = {
#define X(name, value, text) {text, TMS_SPLIT_##name},
    TMS_SPLITS(X)
#undef X
        {"none", 0},
    {0},
};

const char *tms_word_split(size_t index)
{
    return splits[index].word;
}

void tms_split_settings(const char *split, struct tms_settings *settings)
{
    settings->split = tms_option_bits(split, splits);
}

void tms_reading_settings(const struct tms_reading *reading, struct tms_settings *settings)
{
    settings->lenient = reading->lenient;
    tms_split_settings(reading->split, settings);
}

/* ---- a trace -------------------------------------------------------------------------- */

/* By hand for as long as there is progress to show; the rest goes through in one call. */
static int read_trace(struct tms_checking *checking)
{
    const struct tms_event *events;
    int64_t count;
    uint64_t size;

    while (checking->progress.wanted && (count = tms_reader_next(checking->reader, &events)) != 0) {
        int code = count < 0 ? (int)count
                             : tms_analysis_feed(checking->analysis, events, (size_t)count,
                                                 checking->reader);
        if (code < 0) {
            return code;
        }
        if (code == 1) {
            return tms_analysis_finish(checking->analysis);
        }
        uint64_t done = tms_reader_position(checking->reader, &size);
        tms_progress_step(&checking->progress, (uint64_t)count, done, size);
    }
    return tms_analysis_read(checking->analysis, checking->reader);
}

int tms_checking_run(struct tms_checking *checking, const struct tms_reading *reading,
                     const struct tms_settings *settings, const struct tms_common *common,
                     tms_complain *complain)
{
    struct tms_reader_settings reader_settings;

    checking->context = tms_context_new(complain, &checking->progress);
    if (checking->context == NULL) {
        return TMS_ERR_MEMORY;
    }
    tms_reader_settings_init(&reader_settings);
    reader_settings.format = reading->format;
    reader_settings.lenient = reading->lenient;
    int code =
        tms_reader_open(checking->context, checking->path, &reader_settings, &checking->reader);
    if (code == TMS_OK) {
        code = tms_analysis_new(checking->context, settings, &checking->analysis);
    }
    if (code == TMS_OK) {
        tms_progress_start(&checking->progress, common);
        code = read_trace(checking);
        tms_progress_hide(&checking->progress);
    }
    return code;
}

void tms_checking_free(struct tms_checking *checking)
{
    tms_analysis_free(checking->analysis);
    tms_reader_close(checking->reader);
    tms_context_free(checking->context);
}

int tms_checking_bad(const struct tms_checking *checking, int code,
                     const struct tms_reading *reading)
{
    return checking->context == NULL ? tms_bad("%s: out of memory", checking->path)
                                     : tms_bad_input(checking->context, code, reading->format);
}

int tms_checking_status(const struct tms_checking *checking, const struct tms_fail_on *fail_on)
{
    struct tms_fail_on_answer answer = tms_fail_on_ask(fail_on, checking->analysis);

    return answer.fails ? TMS_EXIT_VIOLATION : answer.doubts ? TMS_EXIT_INCOMPLETE : TMS_EXIT_OK;
}
