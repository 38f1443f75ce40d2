/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point that libFuzzer and replay.c share. */
#ifndef TMS_FUZZ_TARGET_H
#define TMS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0; aborts when something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
