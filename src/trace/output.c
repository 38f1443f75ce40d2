/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output; see output.h. Bytes collect in a buffer; a full buffer is passed to the encoder, whose
 * own buffer is written to the file.
 */
#include "trace/output.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/atomic_file.h"

#define BUFFER_SIZE (1u << 18)

struct encoder;

struct tms_output {
    struct tms_context *context;
    const char *path;        /* as messages name it */
    struct tms_replace file; /* .fd -1: the bytes go to a descriptor of the caller's */
    int fd;
    int failed; /* first error */
    const struct encoder *encoder;
    char *buffer; /* plain */
    size_t used;
    char *packed; /* compressed, BUFFER_SIZE bytes */
    z_stream gzip;
    bool gzip_ready;
    ZSTD_CStream *zstd;
};

struct encoder {
    const char *name;
    int level_default, level_most;
    int (*begin)(struct tms_output *output, int level);
    /* Passes bytes on; `last` ends the stream. */
    int (*encode)(struct tms_output *output, char *bytes, size_t length, bool last);
};

static int cant_write(struct tms_output *output)
{
    return tms_fail(output->context, TMS_ERR_IO, "%s: can't be written: %s", output->path,
                    strerror(errno));
}

static int write_file(struct tms_output *output, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = write(output->fd, bytes, length);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return cant_write(output);
        }
        bytes += done;
        length -= (size_t)done;
    }
    return TMS_OK;
}

static int plain_begin(struct tms_output *output, int level)
{
    (void)output;
    (void)level;
    return TMS_OK;
}

static int plain_encode(struct tms_output *output, char *bytes, size_t length, bool last)
{
    (void)last;
    return write_file(output, bytes, length);
}

static int gzip_begin(struct tms_output *output, int level)
{
    int code = deflateInit2(&output->gzip, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);

    output->gzip_ready = code == Z_OK;
    return code == Z_OK ? TMS_OK : tms_fail_memory(output->context);
}

static int gzip_encode(struct tms_output *output, char *bytes, size_t length, bool last)
{
    z_stream *stream = &output->gzip;

    assert(length <= BUFFER_SIZE);
    stream->next_in = (unsigned char *)bytes;
    stream->avail_in = (unsigned)length;
    do {
        stream->next_out = (unsigned char *)output->packed;
        stream->avail_out = BUFFER_SIZE;
        deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        int code = write_file(output, output->packed, BUFFER_SIZE - stream->avail_out);
        if (code != TMS_OK) {
            return code;
        }
    } while (stream->avail_out == 0);
    assert(stream->avail_in == 0);
    return TMS_OK;
}

static int zstd_begin(struct tms_output *output, int level)
{
    output->zstd = ZSTD_createCStream();
    if (output->zstd == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1))) {
        return tms_fail_memory(output->context);
    }
    return TMS_OK;
}

static int zstd_encode(struct tms_output *output, char *bytes, size_t length, bool last)
{
    ZSTD_inBuffer in = {bytes, length, 0};
    size_t left;

    do {
        ZSTD_outBuffer out = {output->packed, BUFFER_SIZE, 0};
        left = ZSTD_compressStream2(output->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) {
            return tms_fail(output->context, TMS_ERR_MEMORY, "%s: can't be compressed: %s",
                            output->path, ZSTD_getErrorName(left));
        }
        int code = write_file(output, output->packed, out.pos);
        if (code != TMS_OK) {
            return code;
        }
    } while (last ? left != 0 : in.pos < in.size);
    return TMS_OK;
}

static const struct encoder encoders[] = {
    {"none", 0, 0, plain_begin, plain_encode},
    {"gz", 6, 9, gzip_begin, gzip_encode},
    {"zst", 3, 19, zstd_begin, zstd_encode},
};

static int choose_encoder(struct tms_output *output, const char *name, int level)
{
    for (size_t i = 0; i < sizeof(encoders) / sizeof(encoders[0]); i++) {
        const struct encoder *encoder = &encoders[i];
        if (strcmp(encoder->name, name) != 0) {
            continue;
        }
        if (level < 0 || level > encoder->level_most) {
            return tms_fail(output->context, TMS_ERR_ARGUMENT,
                            "compression level %d is out of range: \"%s\" goes up to %d", level,
                            name, encoder->level_most);
        }
        output->encoder = encoder;
        return encoder->begin(output, level == 0 ? encoder->level_default : level);
    }
    return tms_fail(output->context, TMS_ERR_ARGUMENT,
                    "unknown compression \"%s\": it can be none, gz or zst", name);
}

static int open_file(struct tms_output *output, const char *path)
{
    char reason[TMS_REPLACE_REASON];

    if (!tms_replace_open(&output->file, path, reason)) {
        return tms_fail(output->context, TMS_ERR_IO, "%s: can't be created: %s", output->path,
                        reason);
    }
    output->fd = output->file.fd;
    return TMS_OK;
}

static int start(struct tms_output *output, const char *path, const char *compression, int level,
                 int descriptor)
{
    struct tms_memory *memory = &output->context->memory;
    bool standard = strcmp(path, "-") == 0;

    output->path = standard ? "standard output" : path;
    output->buffer = tms_resize(memory, NULL, 0, BUFFER_SIZE, 1);
    output->packed = tms_resize(memory, NULL, 0, BUFFER_SIZE, 1);
    if (output->buffer == NULL || output->packed == NULL) {
        return tms_fail_memory(output->context);
    }
    int code = choose_encoder(output, compression, level);
    if (code != TMS_OK) {
        return code;
    }
    output->fd = standard ? STDOUT_FILENO : descriptor;
    return output->fd > 0 ? TMS_OK : open_file(output, path);
}

static void destroy(struct tms_output *output)
{
    struct tms_memory *memory = &output->context->memory;

    if (output->gzip_ready) {
        deflateEnd(&output->gzip);
    }
    ZSTD_freeCStream(output->zstd);
    tms_release(memory, output->buffer, BUFFER_SIZE, 1);
    tms_release(memory, output->packed, BUFFER_SIZE, 1);
    tms_release(memory, output, 1, sizeof(*output));
}

int tms_output_open(struct tms_context *context, const char *path, const char *compression,
                    int level, int descriptor, struct tms_output **out)
{
    struct tms_output *output = tms_resize(&context->memory, NULL, 0, 1, sizeof(*output));

    *out = NULL;
    if (output == NULL) {
        return tms_fail_memory(context);
    }
    output->context = context;
    output->file.fd = -1;
    int code = start(output, path, compression, level, descriptor);
    if (code != TMS_OK) {
        destroy(output);
        return code;
    }
    *out = output;
    return TMS_OK;
}

static int flush(struct tms_output *output, bool last)
{
    if (output->failed == TMS_OK) {
        output->failed = output->encoder->encode(output, output->buffer, output->used, last);
    }
    output->used = 0;
    return output->failed;
}

int tms_output_write(struct tms_output *output, const void *bytes, size_t length)
{
    const char *from = bytes;

    while (length > 0 && output->failed == TMS_OK) {
        size_t part = BUFFER_SIZE - output->used;
        part = part < length ? part : length;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        length -= part;
        if (output->used == BUFFER_SIZE) {
            flush(output, false);
        }
    }
    return output->failed;
}

int tms_output_close(struct tms_output *output)
{
    int code = flush(output, true);

    if (output->file.fd >= 0) {
        if (code != TMS_OK) {
            tms_replace_drop(&output->file);
        } else if (!tms_replace_keep(&output->file)) {
            code = cant_write(output);
        }
    }
    destroy(output);
    return code;
}

void tms_output_abandon(struct tms_output *output)
{
    tms_replace_drop(&output->file);
    destroy(output);
}
