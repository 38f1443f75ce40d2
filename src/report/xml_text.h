/* SPDX-License-Identifier: Apache-2.0 */
/* Text in XML and HTML. */
#ifndef TMS_REPORT_XML_TEXT_H
#define TMS_REPORT_XML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes text for an element or for an attribute in double quotes. Line ends stay; other control
 * characters, what is not UTF-8, and U+FFFE and U+FFFF become U+FFFD. `text` is readable up to a
 * zero byte, at `length` or after it.
 */
void tms_xml_text(FILE *out, const char *text, size_t length);

/* ` name="text"` */
void tms_xml_attribute(FILE *out, const char *name, const char *text);

#endif
