/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of call stacks; see stack_frames.h. */
#include "report/stack_frames.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/display_name.h"

#define FRAMES_MOST 12 /* shown of a stack, … */
#define FRAMES_FEW  3  /* … unless everything is to be shown */
#define TEXT_MOST   512

static struct tms_stack_text take_field(const char **at)
{
    struct tms_stack_text field = {*at, strcspn(*at, "\t\n")};

    *at += field.length;
    *at += **at == '\t';
    return field;
}

/* Stacks may come from a file: only a plain number is one for JSON. */
static struct tms_stack_text take_line(const char **at)
{
    struct tms_stack_text line = take_field(at);
    bool number = strspn(line.at, "0123456789") >= line.length && line.length <= 9;

    line.length = number && *line.at != '0' ? line.length : 0;
    return line;
}

bool tms_stack_next(const char **stack, struct tms_stack_frame *frame)
{
    if (**stack == '\0') {
        return false;
    }
    frame->function = take_field(stack);
    frame->file = take_field(stack);
    frame->line = take_line(stack);
    frame->source = take_field(stack);
    take_field(stack); /* the program or shared library */
    frame->site = take_field(stack);
    *stack += strcspn(*stack, "\n");
    *stack += **stack == '\n';
    return true;
}

static void write_text(FILE *out, struct tms_stack_text text)
{
    char copy[TEXT_MOST];

    snprintf(copy, sizeof(copy), "%.*s",
             (int)(text.length < sizeof(copy) ? text.length : sizeof(copy)), text.at);
    tms_utf8_write(out, copy, SIZE_MAX);
}

static void write_function(FILE *out, struct tms_stack_text name)
{
    char copy[TEXT_MOST];

    snprintf(copy, sizeof(copy), "%.*s",
             (int)(name.length < sizeof(copy) ? name.length : sizeof(copy)), name.at);
    tms_display_name(out, copy, SIZE_MAX);
}

/* "deposit (bank.c:31)" */
static void write_frame(const struct tms_page *page, FILE *out, const struct tms_stack_frame *frame)
{
    write_function(out, frame->function);
    if (frame->file.length > 0) {
        fputs(" (", out);
        tms_page_path(page, out, frame->file.at, frame->file.length, SIZE_MAX);
        fputs(frame->line.length > 0 ? ":" : "", out);
        write_text(out, frame->line);
        fputc(')', out);
    }
}

static void write_source(const struct tms_page *page, const struct tms_stack_frame *frame,
                         size_t indent)
{
    if (frame->source.length > 0) {
        tms_page_blank(page->out, indent);
        tms_page_ink(page, TMS_INK_BOLD);
        write_text(page->out, frame->source);
        tms_page_ink(page, TMS_INK_PLAIN);
        fputc('\n', page->out);
    }
}

/* Its frames, at most so many, and the first with its source line; `event` 0: not named. */
static void write_frames(const struct tms_page *page, uint64_t event, uint32_t stack, size_t indent,
                         int most)
{
    const char *at = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);
    struct tms_stack_frame frame;

    for (int i = 0; i < most && tms_stack_next(&at, &frame); i++) {
        tms_page_blank(page->out, indent + (i > 0 ? 2 : 0));
        tms_page_ink(page, TMS_INK_FAINT);
        if (i == 0 && event != 0) {
            fprintf(page->out, "event %" PRIu64 " ", event);
        }
        fputs(i == 0 ? "in " : "from ", page->out);
        tms_page_ink(page, TMS_INK_PLAIN);
        write_frame(page, page->out, &frame);
        fputc('\n', page->out);
        if (i == 0) {
            write_source(page, &frame, indent + 4);
        }
    }
    if (*at != '\0' && page->verbose) {
        tms_page_blank(page->out, indent + 2);
        fputs("…\n", page->out);
    }
}

void tms_stack_write(const struct tms_page *page, uint32_t stack, size_t indent)
{
    write_frames(page, 0, stack, indent, FRAMES_MOST);
}

/* "event 17 in get (bank.c:27), deposit (bank.c:40)": as many frames as fit into a line. */
static void write_line(struct tms_page *page, uint64_t event, uint32_t stack, size_t indent)
{
    const char *at = tms_name(page->names, TMS_CLASS_STACK, stack, NULL);
    struct tms_stack_frame frame;
    FILE *note = tms_page_note(page);

    if (*at == '\0') {
        return;
    }
    fprintf(note, "event %" PRIu64 " in ", event);
    for (int i = 0; i < FRAMES_FEW && tms_stack_next(&at, &frame); i++) {
        fputs(i > 0 ? ", " : "", note);
        write_frame(page, note, &frame);
    }
    tms_page_blank(page->out, indent);
    tms_page_put(page, page->width > indent ? page->width - indent : 1);
    fputc('\n', page->out);
}

static void write_event(struct tms_page *page, uint64_t event, uint32_t stack, size_t indent)
{
    if (page->verbose || page->stacks == TMS_STACKS_FRAMES) {
        write_frames(page, event, stack, indent, page->verbose ? FRAMES_MOST : FRAMES_FEW);
    } else if (page->stacks == TMS_STACKS_LINE) {
        write_line(page, event, stack, indent);
    }
}

void tms_stacks_write(struct tms_page *page, const struct tms_finding *finding, size_t index,
                      size_t indent)
{
    const struct tms_step *step = &finding->cycle[index];

    if (index == 0 || step[-1].second_event != step->first_event) {
        write_event(page, step->first_event, step->first_stack, indent);
    }
    write_event(page, step->second_event, step->second_stack, indent);
}
