/* SPDX-License-Identifier: Apache-2.0 */
/* The traces and programs of an HTML report: verdict, outcome, when and where it ran. */
#ifndef TMS_REPORT_HTML_ABOUT_H
#define TMS_REPORT_HTML_ABOUT_H

#include "report/export.h"

/* `, "parts": […]` */
void tms_html_about_write(FILE *out, const struct tms_export_job *job);

#endif
