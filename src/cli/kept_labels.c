/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that stay atomic; see kept_labels.h. */
#include "cli/kept_labels.h"

#include <stdlib.h>
#include <string.h>

#include "cli/suppress_options.h"

static struct tms_kept_label *find(const struct tms_kept *kept, const char *label)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->list[i].label, label) == 0) {
            return &kept->list[i];
        }
    }
    return NULL;
}

bool tms_kept_has(const struct tms_kept *kept, const char *label)
{
    return find(kept, label) != NULL;
}

static void clear_label(struct tms_kept_label *label)
{
    free(label->label);
    free(label->reason);
    free(label->id);
}

static struct tms_kept_label *add(struct tms_kept *kept)
{
    struct tms_kept_label *list = realloc(kept->list, (kept->count + 1) * sizeof(*list));

    if (list == NULL) {
        return NULL;
    }
    kept->list = list;
    list[kept->count] = (struct tms_kept_label){0};
    return &list[kept->count++];
}

static char *reason_of(const struct tms_context *names, const struct tms_finding *finding)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        return NULL;
    }
    tms_suppress_describe(out, names, finding);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool take_finding(struct tms_kept *kept, const struct tms_context *names,
                         const struct tms_finding *finding)
{
    const char *label = tms_name(names, TMS_CLASS_LABEL, finding->transaction.label, NULL);
    struct tms_kept_label *known = find(kept, label);

    if (known != NULL && known->level >= finding->judgement->level) {
        return true;
    }
    if (known != NULL) {
        clear_label(known);
    } else {
        known = add(kept);
    }
    if (known == NULL) {
        return false;
    }
    *known = (struct tms_kept_label){.label = strdup(label),
                                     .reason = reason_of(names, finding),
                                     .id = strdup(finding->id),
                                     .level = finding->judgement->level};
    return known->label != NULL && known->reason != NULL && known->id != NULL;
}

static bool is_bad(const struct tms_finding *finding)
{
    return finding->judgement != NULL && finding->evidence == TMS_EVIDENCE_OBSERVED &&
           finding->judgement->level > TMS_LEVEL_NOTE;
}

bool tms_kept_take(struct tms_kept *kept, const struct tms_checking *checking)
{
    const struct tms_result *result;
    bool good = true;

    for (size_t i = 0; (result = tms_analysis_result(checking->analysis, i)) != NULL; i++) {
        for (size_t j = 0; j < result->finding_count && good; j++) {
            good = !is_bad(&result->findings[j]) ||
                   take_finding(kept, checking->context, &result->findings[j]);
        }
    }
    return good;
}

void tms_kept_write(const struct tms_kept *kept, FILE *out)
{
    if (kept->count > 0) {
        fputs("#\n# Kept although blocks with these labels were cut: data was affected, so they "
              "need a fix.\n",
              out);
    }
    for (size_t i = 0; i < kept->count; i++) {
        fprintf(out, "#   %s (%s)\n", kept->list[i].reason, kept->list[i].id);
    }
}

static void write_member(FILE *out, const char *before, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, name);
    tms_json_string(text, strlen(text), tms_console_sink, out);
}

void tms_kept_write_json(const struct tms_kept *kept, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < kept->count; i++) {
        const struct tms_kept_label *label = &kept->list[i];
        write_member(out, i > 0 ? ", {" : "{", "label", label->label);
        write_member(out, ", ", "level", tms_level_text(label->level));
        write_member(out, ", ", "id", label->id);
        write_member(out, ", ", "reason", label->reason);
        fputc('}', out);
    }
    fputc(']', out);
}

void tms_kept_clear(struct tms_kept *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        clear_label(&kept->list[i]);
    }
    free(kept->list);
    *kept = (struct tms_kept){0};
}
