/* SPDX-License-Identifier: Apache-2.0 */
/* XML text; see xml_text.h. */
#include "report/xml_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\n':
        return "\n";
    default:
        return NULL;
    }
}

/* U+FFFE and U+FFFF, which XML allows in no form. */
static bool is_forbidden(const char *text)
{
    return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

void tms_xml_text(FILE *out, const char *text, size_t length)
{
    for (const char *end = text + length; text < end;) {
        size_t size = tms_utf8_printable(text);
        const char *entity = entity_of(*text);
        if (entity != NULL) {
            fputs(entity, out);
            text++;
        } else if (size > 0 && !is_forbidden(text)) {
            fwrite(text, 1, size, out);
            text += size;
        } else {
            size = tms_utf8_length(text);
            fputs(TMS_UTF8_BAD, out);
            text += size > 0 ? size : 1;
        }
    }
}

void tms_xml_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    tms_xml_text(out, text, strlen(text));
    fputc('"', out);
}
