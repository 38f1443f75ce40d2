/* SPDX-License-Identifier: Apache-2.0 */
/* The members that JSON reports are made of. Each is written with the separator before it. */
#ifndef TMS_REPORT_JSON_WRITE_H
#define TMS_REPORT_JSON_WRITE_H

#include "report/report.h"

/* For tms_json_string: `user` is a FILE. */
bool tms_json_to_stream(void *user, const char *text, size_t length);

/* `"key": "text"`, or null for NULL. */
void tms_json_text(FILE *out, const char *before, const char *key, const char *text);

/* The same, but nothing at all for NULL. */
void tms_json_if(FILE *out, const char *key, const char *text);

void tms_json_number(FILE *out, const char *before, const char *key, uint64_t value);
void tms_json_seconds(FILE *out, const char *before, double seconds);

/* `, "key": "2026-11-17T08:12:03.250Z"`; nothing if it is not known (0). */
void tms_json_time(FILE *out, const char *key, double seconds);

/* "true" or "false". */
const char *tms_json_bool(bool value);

/* The name of an id of any class but locations. */
const char *tms_json_name(const struct tms_report_job *job, enum tms_class cls, uint32_t id);

#endif
