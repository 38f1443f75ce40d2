/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by readers of text formats: splits the input into lines, and quotes text in complaints. */
#ifndef TMS_TRACE_LINES_H
#define TMS_TRACE_LINES_H

#include "trace/format.h"

/* Some bytes of the window; not ended by a zero byte. */
struct tms_span {
    const char *at;
    size_t length;
};

/*
 * The next line without its LF or CRLF: 1 with *line set and the input after it, 0 at the end, or a
 * code. The last one may lack its end. A line longer than 1 MiB is returned as an empty one after
 * the complaint; the rest of a line that is cut off with its compressed file is left out.
 */
int tms_lines_next(struct tms_reader *reader, uint64_t number, struct tms_span *line);

#define TMS_LINE_MOST (1u << 20)

/* Quotes a text for a message: shortened, with unprintable characters replaced. */
#define TMS_QUOTE_SIZE 64
const char *tms_lines_quote(struct tms_span text, char buffer[TMS_QUOTE_SIZE]);

/* Does it contain a blank or a control character? */
bool tms_lines_has_blank(struct tms_span text);

#endif
