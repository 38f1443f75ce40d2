/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One result file, as a libFuzzer target. A refused file gets one message that names it. In an
 * accepted one every finding can be shown, and is known to a baseline made from it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "saved/saved_result.h"

#define NAME "result.json"

#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool swallow(void *user, const char *text, size_t length)
{
    *(size_t *)user += length;
    return true;
}

static void show(const struct tms_saved *saved, const struct tms_saved_result *from)
{
    struct tms_report_settings settings;
    struct tms_baseline *baseline;

    tms_report_settings_init(&settings);
    require(tms_baseline_new(saved->context, &baseline) == TMS_OK);
    for (size_t i = 0; i < from->result.finding_count; i++) {
        const struct tms_finding *finding = &from->result.findings[i];
        size_t length = 0;
        require(tms_report_finding(saved->context, &from->result, i, &settings, swallow, &length) ==
                TMS_OK);
        require(length > 0);
        require(tms_baseline_add(baseline, saved->context, finding) == TMS_OK);
    }
    tms_baseline_free(baseline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[TMS_SAVED_REASON] = "";
    struct tms_saved saved;
    bool good = tms_saved_parse(&saved, NAME, (const char *)data, size, reason);

    require(good == (reason[0] == '\0'));
    require(good || strncmp(reason, NAME, strlen(NAME)) == 0);
    require(strchr(reason, '\n') == NULL);
    for (size_t i = 0; good && i < saved.count; i++) {
        show(&saved, &saved.results[i]);
    }
    tms_saved_close(&saved);
    return 0;
}
