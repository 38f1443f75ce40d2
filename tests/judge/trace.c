/* SPDX-License-Identifier: Apache-2.0 */
/* Vocabulary, specifications, printing and shrinking of the traces; see trace.h. */
#include "judge/trace.h"

#include <string.h>

/* Elements, fields and allocations of one site share their objects; two are synchronisation. */
static const char *const variable_names[VARIABLES] = {
    "x",   "arr[0]",      "obj.f",  "heap:f:T#1.x", "heap:f:T#2.x", "arr[1]", "obj.g",    "y",
    "obj", "semaphore:s", "once:o", "p->next",      "m<a.b>::c.d",  "v+8",    "f(int).s", "e0",
    "e1",  "e2",          "e3",     "e4",           "e5",           "e6",     "e7",       "e8",
    "e9",  "e10",         "e11",    "e12",          "e13",          "e14",    "e15"};
static const char *const lock_names[LOCKS] = {"m0", "m1", "m2",  "m3",  "m4",  "m5",  "m6",  "m7",
                                              "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15"};
static const char *const thread_names[THREADS] = {"T0", "T1", "T2", "T3"};
static const char *const label_names[LABELS] = {
    "f<int>", "g", "f<char>",    "main", "h.part.0", "h", "g.constprop.0.cold", "k [clone .isra.1]",
    "h.cold", "k", "k.coldStart"};
static const char *const object_names[OBJECTS] = {"obj", "arr", "x", "heap:f:T#1"};
static const char *const condition_names[CONDITIONS] = {"c"};
static const char *const channel_name = "p";
static const char *const barrier_names[BARRIERS] = {"b"};

static bool intern(struct tms_context *context, enum tms_class cls, const char *const *names,
                   uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t id = tms_intern(context, cls, names[i], strlen(names[i]));
        if (id < 0) {
            return false;
        }
        ids[i] = (uint32_t)id;
    }
    return true;
}

bool words_init(struct words *words, struct tms_context *context)
{
    return intern(context, TMS_CLASS_THREAD, thread_names, words->threads, THREADS) &&
           intern(context, TMS_CLASS_VARIABLE, variable_names, words->variables, VARIABLES) &&
           intern(context, TMS_CLASS_LOCK, lock_names, words->locks, LOCKS) &&
           intern(context, TMS_CLASS_LABEL, label_names, words->labels, LABELS) &&
           intern(context, TMS_CLASS_OBJECT, object_names, words->objects, OBJECTS) &&
           intern(context, TMS_CLASS_CONDITION, condition_names, words->conditions, CONDITIONS) &&
           intern(context, TMS_CLASS_BARRIER, barrier_names, words->barriers, BARRIERS) &&
           intern(context, TMS_CLASS_CHANNEL, &channel_name, &words->channel, 1);
}

static const struct {
    size_t count;
    struct naive_rule rules[MOST_RULES];
} rule_sets[RULE_SETS] = {
    {0},
    {1, {{false, "g*"}}},
    {1, {{true, "f<*"}}},
    {1, {{false, "main"}}},
    {2, {{true, "h*"}, {true, "main"}}},
};

const struct naive_rule *trace_rules(const struct trace *trace, size_t *count)
{
    *count = rule_sets[trace->rule_set].count;
    return rule_sets[trace->rule_set].rules;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_settings(const struct trace *trace, FILE *to)
{
    size_t rules;
    const struct naive_rule *rule = trace_rules(trace, &rules);

    fprintf(to, "#");
#define X(name, value, text) fputs((trace->split & value) != 0 ? " --split=" text : "", to);
    TMS_SPLITS(X)
#undef X
    for (size_t i = 0; i < rules; i++) {
        fprintf(to, " --%s=%s", rule[i].atomic ? "atomic" : "not-atomic", rule[i].pattern);
    }
    fprintf(to, "\n");
}

static void print_operand(const char *text, uint8_t order, FILE *to)
{
    for (fputc('(', to); *text != '\0'; text++) {
        fprintf(to, *text == ' ' ? "\\x20" : "%c", *text);
    }
    fprintf(to, "%s%s)", order != TMS_ORDER_NONE ? "," : "", tms_order_text(order));
}

void trace_print(const struct trace *trace, const struct tms_context *context, FILE *to)
{
    print_settings(trace, to);
    for (size_t i = 0; i < trace->count; i++) {
        const struct tms_event *event = &trace->events[i];
        char number[TMS_NUMBER_SIZE];
        fprintf(to, "%s|%s", tms_name(context, TMS_CLASS_THREAD, event->thread, NULL),
                tms_event_text(event->kind));
        if (event->target != 0) {
            print_operand(tms_name(context, tms_event_class(event->kind), event->target, NULL),
                          event->order, to);
        }
        fprintf(to, "|%s\n", tms_name(context, TMS_CLASS_LOCATION, event->location, number));
    }
}

/* ---- shrinking --------------------------------------------------------------------------- */

static void cut(struct trace *trace, size_t at, size_t count)
{
    memmove(&trace->events[at], &trace->events[at + count],
            (trace->count - at - count) * sizeof(trace->events[0]));
    trace->count -= count;
}

/* One pass with pieces of one length, from the end; true if something went. */
static bool shrink_by(struct trace *trace, size_t length, trace_shows *shows, void *user)
{
    bool smaller = false;

    for (size_t at = trace->count; at-- > 0;) {
        struct trace rest = *trace;
        if (at + length > rest.count) {
            continue;
        }
        cut(&rest, at, length);
        if (shows(user, &rest)) {
            *trace = rest;
            smaller = true;
        }
    }
    return smaller;
}

/* Two events that belong together, such as begin and end, go only together. */
static bool shrink_pairs(struct trace *trace, trace_shows *shows, void *user)
{
    for (size_t second = 1; second < trace->count; second++) {
        for (size_t first = 0; first < second; first++) {
            struct trace rest = *trace;
            cut(&rest, second, 1);
            cut(&rest, first, 1);
            if (shows(user, &rest)) {
                *trace = rest;
                return true;
            }
        }
    }
    return false;
}

void trace_shrink(struct trace *trace, trace_shows *shows, void *user)
{
    for (size_t length = trace->count / 2; length > 1; length /= 2) {
        shrink_by(trace, length, shows, user);
    }
    while (shrink_by(trace, 1, shows, user) ||
           (trace->count < 100 && shrink_pairs(trace, shows, user))) {
    }
}
