/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of results; see result_document.h. */
#include "store/result_document.h"

#include <stdlib.h>
#include <zstd.h>

#include "store/history_sql.h"

#define COMPRESSION 3 /* as of native traces: higher levels take longer and save little */

bool tms_document_pack(struct tms_document *document, const char *text, size_t size)
{
    size_t most = ZSTD_compressBound(size);

    *document = (struct tms_document){.bytes = malloc(most), .size = size};
    if (document->bytes == NULL) {
        return false;
    }
    document->packed = ZSTD_compress(document->bytes, most, text, size, COMPRESSION);
    return !ZSTD_isError(document->packed);
}

void tms_document_free(struct tms_document *document)
{
    free(document->bytes);
    *document = (struct tms_document){0};
}

/* NULL after a sentence: the database has been damaged, or out of memory. */
static char *unpack(struct tms_history *history, uint64_t result, const void *packed, size_t length,
                    size_t size)
{
    char *text = size <= TMS_SAVED_MOST ? malloc(size + 1) : NULL;

    if (size <= TMS_SAVED_MOST && text == NULL) {
        tms_history_fail(history, "out of memory");
        return NULL;
    }
    if (text == NULL || ZSTD_decompress(text, size, packed, length) != size) {
        tms_history_fail(history,
                         "the document of result %llu is damaged; import its file into a new "
                         "history",
                         (unsigned long long)result);
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

char *tms_document_load(struct tms_history *history, uint64_t result, size_t *size)
{
    sqlite3_stmt *statement =
        tms_sql_prepare(history, "SELECT size, bytes FROM documents WHERE result = ?", "n", result);
    bool failed = statement == NULL;
    char *text = NULL;

    if (statement != NULL && tms_sql_next(history, statement, &failed)) {
        *size = (size_t)tms_sql_count(statement, 0);
        const void *packed = sqlite3_column_blob(statement, 1);
        text = unpack(history, result, packed, (size_t)sqlite3_column_bytes(statement, 1), *size);
    } else if (!failed) {
        tms_history_fail(history, "result %llu has no document", (unsigned long long)result);
    }
    sqlite3_finalize(statement);
    return text;
}
