/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The document of a result: its JSON as imported, compressed as one zstd frame, from which reports
 * are made. A result with a few findings takes some kilobytes.
 */
#ifndef TMS_STORE_RESULT_DOCUMENT_H
#define TMS_STORE_RESULT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tms_history;

struct tms_document {
    void *bytes;   /* compressed, … */
    size_t packed; /* … their number, … */
    size_t size;   /* … and the uncompressed size */
};

/* Compresses a text. False if out of memory; call tms_document_free in both cases. */
bool tms_document_pack(struct tms_document *document, const char *text, size_t size);
void tms_document_free(struct tms_document *document);

/*
 * The text of a result's document, which the caller frees; sets `*size` to its length. NULL with a
 * sentence in the reason of the history, also if there is no document.
 */
char *tms_document_load(struct tms_history *history, uint64_t result, size_t *size);

#endif
