/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_SAVED_LINK_PROCESSES_H
#define TMS_SAVED_LINK_PROCESSES_H

#include "saved/json_members.h"

/*
 * Names in each finding of a merged result the first process that showed it: the results of the
 * processes are in the same file, and have the same ids. Cost: n log n in the number of findings.
 */
void tms_saved_link_processes(struct tms_loading *loading);

#endif
