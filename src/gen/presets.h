/* SPDX-License-Identifier: Apache-2.0 */
/* Named shapes: `bench`, and one for each program that the AeroDrome paper measured. */
#ifndef TMS_GEN_PRESETS_H
#define TMS_GEN_PRESETS_H

#include <stdio.h>

#include "gen/shape.h"

/* The names; NULL after the last. */
const char *tms_preset_name(size_t index);

/*
 * Fills `shape` for the preset of that name (one of tms_preset_name), scaled to `events` events; 0:
 * the preset's own number, but at most a million.
 */
void tms_preset_shape(const char *name, uint64_t events, struct tms_shape *shape);

/* One line for each: name, and what it looks like at full size. */
void tms_presets_list(FILE *out);

#endif
