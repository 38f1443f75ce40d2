/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text formats; see lines.h. */
#include "trace/lines.h"

#include <string.h>

/* Drops what is left of a line that is too long to hold. */
static int drop_line(struct tms_input *input)
{
    for (;;) {
        const char *end = memchr(input->at, '\n', (size_t)(input->end - input->at));
        if (end != NULL) {
            input->at = end + 1;
            return TMS_OK;
        }
        input->at = input->end;
        int more = tms_input_more(input);
        if (more <= 0) {
            return more;
        }
    }
}

static int too_long(struct tms_reader *reader, uint64_t number, struct tms_span *line)
{
    int code = tms_reader_skip(reader, number, "a line longer than 1 MiB; this is not a trace");

    line->length = 0;
    code = code == TMS_OK ? drop_line(&reader->input) : code;
    return code < 0 ? code : 1;
}

/* The input is at its end, and `line` is what follows the last line end. */
static int last_line(struct tms_reader *reader, uint64_t number, struct tms_span *line)
{
    if (line->length > 0 && tms_input_cut(&reader->input)) {
        tms_reader_cut(reader,
                       "the compressed data is cut off in line %llu; what comes before "
                       "that line was read",
                       (unsigned long long)number);
        line->length = 0;
    }
    reader->input.at = reader->input.end;
    return line->length > 0;
}

int tms_lines_next(struct tms_reader *reader, uint64_t number, struct tms_span *line)
{
    struct tms_input *input = &reader->input;
    const char *end;
    int more = 1;

    for (;;) {
        size_t there = (size_t)(input->end - input->at);
        end = memchr(input->at, '\n', there);
        *line = (struct tms_span){input->at, end != NULL ? (size_t)(end - input->at) : there};
        if (line->length > TMS_LINE_MOST) {
            return too_long(reader, number, line);
        }
        if (end != NULL || more == 0) {
            break;
        }
        more = tms_input_more(input);
        if (more < 0) {
            return more;
        }
    }
    int whole = 1;
    if (end != NULL) {
        input->at = end + 1;
    } else {
        whole = last_line(reader, number, line);
    }
    if (line->length > 0 && line->at[line->length - 1] == '\r') {
        line->length--;
    }
    return whole;
}

const char *tms_lines_quote(struct tms_span text, char buffer[TMS_QUOTE_SIZE])
{
    size_t most = TMS_QUOTE_SIZE - sizeof("...");
    size_t shown = text.length < most ? text.length : most;

    while (shown > 0 && shown < text.length && ((unsigned char)text.at[shown] & 0xc0) == 0x80) {
        shown--; /* not in the middle of a character */
    }
    for (size_t i = 0; i < shown; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        buffer[i] = byte < ' ' || byte == 0x7f ? '?' : text.at[i];
    }
    memcpy(buffer + shown, "...", sizeof("..."));
    if (shown == text.length) {
        buffer[shown] = '\0';
    }
    return buffer;
}

bool tms_lines_has_blank(struct tms_span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if ((unsigned char)text.at[i] <= ' ') {
            return true;
        }
    }
    return false;
}
