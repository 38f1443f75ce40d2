/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document of a result: its JSON as it was imported, packed as one zstd frame. Reports are made
 * from it. A result of a few findings takes some kilobytes.
 */
#ifndef TMS_STORE_RESULT_DOCUMENT_H
#define TMS_STORE_RESULT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_history;

struct tms_document {
    void *bytes;   /* packed, … */
    size_t packed; /* … so many, … */
    size_t size;   /* … and unpacked so many */
};

/* Packs text. False when memory is short; the free is due in both cases. */
bool tms_document_pack(struct tms_document *document, const char *text, size_t size);
void tms_document_free(struct tms_document *document);

/*
 * The text of a result's document, to be freed; its length is in `*size`. NULL with a sentence in
 * the reason of the history, also if there is no document.
 */
char *tms_document_load(struct tms_history *history, uint64_t result, size_t *size);

#endif
