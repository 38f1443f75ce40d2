/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library from a program of your own: events are made by hand, checked as they come, and
 * the cycle that shows the lost update is printed. Build with
 *
 *     cc lost_update.c $(pkg-config --cflags --libs tmesis) -o lost_update
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tmesis/tmesis.h>

/* The events of two deposits, the second inside the first. */
static const struct {
    const char *thread;
    enum tms_event_kind kind;
    const char *target;
} deposits[] = {
    {"alice", TMS_EVENT_BEGIN, "deposit"}, {"alice", TMS_EVENT_READ, "balance"},
    {"bob", TMS_EVENT_BEGIN, "deposit"},   {"bob", TMS_EVENT_READ, "balance"},
    {"bob", TMS_EVENT_WRITE, "balance"},   {"bob", TMS_EVENT_END, "deposit"},
    {"alice", TMS_EVENT_WRITE, "balance"}, {"alice", TMS_EVENT_END, "deposit"},
};

static int feed_deposits(struct tms_context *context, struct tms_analysis *analysis)
{
    for (size_t i = 0; i < sizeof(deposits) / sizeof(deposits[0]); i++) {
        const char *thread = deposits[i].thread;
        const char *target = deposits[i].target;
        enum tms_class cls = tms_event_class(deposits[i].kind);
        int64_t thread_id = tms_intern(context, TMS_CLASS_THREAD, thread, strlen(thread));
        int64_t target_id = tms_intern(context, cls, target, strlen(target));

        if (thread_id < 0 || target_id < 0) {
            return (int)(thread_id < 0 ? thread_id : target_id);
        }
        struct tms_event event = {.thread = (uint32_t)thread_id,
                                  .target = (uint32_t)target_id,
                                  .kind = (uint8_t)deposits[i].kind};
        int code = tms_analysis_feed(analysis, &event, 1, NULL);
        if (code < 0) {
            return code;
        }
    }
    return tms_analysis_finish(analysis);
}

static void print_cycle(const struct tms_context *context, const struct tms_finding *finding)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *step = &finding->cycle[i];
        const char *from = tms_name(context, TMS_CLASS_THREAD, step->from.thread, NULL);
        const char *to = tms_name(context, TMS_CLASS_THREAD, step->to.thread, NULL);
        const char *on = tms_name(context, (enum tms_class)step->on_class, step->on, NULL);

        printf("  event %" PRIu64 " of %s before event %" PRIu64 " of %s: %s on %s\n",
               step->first_event, from, step->second_event, to,
               tms_edge_text((enum tms_edge_kind)step->kind), on);
    }
}

static void print_result(const struct tms_context *context, const struct tms_result *result)
{
    printf("%s: %s\n", result->engine->name, tms_verdict_text(result->verdict));
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        const char *label = tms_name(context, TMS_CLASS_LABEL, finding->transaction.label, NULL);

        printf("%s of %s was cut apart at event %" PRIu64 "\n", label,
               tms_name(context, TMS_CLASS_THREAD, finding->transaction.thread, NULL),
               finding->event);
        print_cycle(context, finding);
    }
}

int main(void)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_analysis *analysis = NULL;
    struct tms_settings settings;

    if (context == NULL) {
        fprintf(stderr, "lost_update: %s\n", tms_strerror(TMS_ERR_MEMORY));
        return 2;
    }
    tms_settings_init(&settings);
    int code = tms_analysis_new(context, &settings, &analysis);
    if (code == TMS_OK) {
        code = feed_deposits(context, analysis);
    }
    if (code == TMS_OK) {
        print_result(context, tms_analysis_result(analysis, 0));
    } else {
        fprintf(stderr, "lost_update: %s\n", tms_error(context));
    }
    tms_analysis_free(analysis);
    tms_context_free(context);
    return code == TMS_OK ? 0 : 2;
}
