/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input; see input.h. Plain bytes are read straight into the window. Compressed ones pass
 * through a raw buffer; a decoder works on one member (gzip) or frame (zstd) at a time, and at
 * each boundary the first bytes of what follows choose the next decoder.
 */
#include "trace/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_MOST  (1u << 20) /* initial limit; it grows if necessary */
#define RAW_MOST     (1u << 18)
#define BUFFER_LEAST (1u << 14)
#define MAGIC_MOST   4
#define WINDOW_LOG   27 /* zstd: bytes of memory that a frame may ask for, as a power of two */

struct decoder;

struct tms_input_source {
    struct tms_context *context;
    const char *path; /* as messages name it */
    int fd;
    bool file_ended;
    bool compressed;
    bool cut;
    bool inside; /* a member or frame has begun and not ended */
    uint64_t taken;
    uint64_t size;
    char *window;
    size_t capacity; /* of window, without the pad */
    char *raw;
    size_t raw_size;
    size_t raw_at, raw_end;
    const struct decoder *decoder;
    z_stream gzip;
    bool gzip_ready;
    ZSTD_DStream *zstd;
};

/* The decoder of one compressed member. */
struct decoder {
    const char *name;
    unsigned char magic[MAGIC_MOST], mask[MAGIC_MOST];
    size_t magic_length;
    int (*begin)(struct tms_input_source *source);
    /* Turns raw bytes into at most `room` bytes at `to`, and clears `inside` at the end. */
    int64_t (*decode)(struct tms_input_source *source, char *to, size_t room);
};

static int64_t read_file(struct tms_input_source *source, char *to, size_t room)
{
    ssize_t got;

    do {
        got = read(source->fd, to, room);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return tms_fail(source->context, TMS_ERR_IO, "%s: can't be read: %s", source->path,
                        strerror(errno));
    }
    source->file_ended = got == 0;
    source->taken += (uint64_t)got;
    return got;
}

/* Appends bytes to the raw buffer and returns their number, 0 at the end of the file. */
static int64_t refill(struct tms_input_source *source)
{
    memmove(source->raw, source->raw + source->raw_at, source->raw_end - source->raw_at);
    source->raw_end -= source->raw_at;
    source->raw_at = 0;
    assert(source->raw_end < source->raw_size);
    int64_t got =
        read_file(source, source->raw + source->raw_end, source->raw_size - source->raw_end);
    if (got > 0) {
        source->raw_end += (size_t)got;
    }
    return got;
}

static int gzip_begin(struct tms_input_source *source)
{
    int code = source->gzip_ready ? inflateReset(&source->gzip)
                                  : inflateInit2(&source->gzip, 15 + 16); /* 16: gzip only */

    source->gzip_ready = code == Z_OK;
    return code == Z_OK ? TMS_OK : tms_fail_memory(source->context);
}

static int64_t gzip_decode(struct tms_input_source *source, char *to, size_t room)
{
    z_stream *stream = &source->gzip;
    size_t given = source->raw_end - source->raw_at;

    stream->next_in = (unsigned char *)source->raw + source->raw_at;
    stream->avail_in = (unsigned)given;
    stream->next_out = (unsigned char *)to;
    stream->avail_out = room < INT32_MAX ? (unsigned)room : INT32_MAX;
    int code = inflate(stream, Z_NO_FLUSH);
    source->raw_at += given - stream->avail_in;
    if (code == Z_MEM_ERROR) {
        return tms_fail_memory(source->context);
    }
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return tms_fail(source->context, TMS_ERR_SYNTAX,
                        "%s: the gzip data is damaged (%s); get the file again", source->path,
                        stream->msg != NULL ? stream->msg : "wrong stream");
    }
    source->inside = code != Z_STREAM_END;
    return (char *)stream->next_out - to;
}

static int zstd_begin(struct tms_input_source *source)
{
    if (source->zstd == NULL) {
        source->zstd = ZSTD_createDStream();
    }
    if (source->zstd == NULL || ZSTD_isError(ZSTD_initDStream(source->zstd)) ||
        ZSTD_isError(ZSTD_DCtx_setParameter(source->zstd, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        return tms_fail_memory(source->context);
    }
    return TMS_OK;
}

static int64_t zstd_decode(struct tms_input_source *source, char *to, size_t room)
{
    ZSTD_inBuffer in = {source->raw + source->raw_at, source->raw_end - source->raw_at, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t code = ZSTD_decompressStream(source->zstd, &out, &in);

    source->raw_at += in.pos;
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
        return tms_fail(source->context, TMS_ERR_LIMIT,
                        "%s: was compressed with a window of more than %u MB (zstd --long), which "
                        "needs more memory than tmesis allocates; decompress it first, with zstd "
                        "-d --long=31",
                        source->path, 1u << (WINDOW_LOG - 20));
    }
    if (ZSTD_isError(code)) {
        return tms_fail(source->context, TMS_ERR_SYNTAX,
                        "%s: the zstd data is damaged (%s); get the file again", source->path,
                        ZSTD_getErrorName(code));
    }
    source->inside = code != 0;
    return (int64_t)out.pos;
}

static const struct decoder decoders[] = {
    {"gzip", {0x1f, 0x8b}, {0xff, 0xff}, 2, gzip_begin, gzip_decode},
    {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, {0xff, 0xff, 0xff, 0xff}, 4, zstd_begin, zstd_decode},
    /* a zstd frame of user data, which the library skips */
    {"zstd", {0x50, 0x2a, 0x4d, 0x18}, {0xf0, 0xff, 0xff, 0xff}, 4, zstd_begin, zstd_decode},
};

/* Do the next `length` bytes agree with the magic number? */
static bool agrees(const struct tms_input_source *source, const struct decoder *decoder,
                   size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)source->raw[source->raw_at + i];
        if ((byte & decoder->mask[i]) != decoder->magic[i]) {
            return false;
        }
    }
    return true;
}

/* Chooses the decoder by the next bytes, NULL if they are not compressed. */
static int choose_decoder(struct tms_input_source *source)
{
    const struct decoder *last = decoders + sizeof(decoders) / sizeof(decoders[0]);

    while (source->raw_end - source->raw_at < MAGIC_MOST && !source->file_ended) {
        int64_t got = refill(source);
        if (got < 0) {
            return (int)got;
        }
    }
    size_t there = source->raw_end - source->raw_at;
    source->decoder = NULL;
    for (const struct decoder *decoder = decoders; decoder < last; decoder++) {
        if (there >= decoder->magic_length && agrees(source, decoder, decoder->magic_length)) {
            source->decoder = decoder;
            source->compressed = true;
            source->inside = true;
            return decoder->begin(source);
        }
    }
    return TMS_OK;
}

/* Is all that is left the beginning of a magic number? */
static bool cut_in_magic(const struct tms_input_source *source)
{
    size_t there = source->raw_end - source->raw_at;

    for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
        if (there < decoders[i].magic_length && agrees(source, &decoders[i], there)) {
            return true;
        }
    }
    return false;
}

static int next_member(struct tms_input_source *source)
{
    const char *before = source->decoder->name;
    int code = choose_decoder(source);

    if (code != TMS_OK || source->decoder != NULL || source->raw_at == source->raw_end) {
        return code;
    }
    if (cut_in_magic(source)) {
        source->cut = true;
        return TMS_OK;
    }
    return tms_fail(source->context, TMS_ERR_SYNTAX,
                    "%s: something that is not compressed follows the %s data; cut it off",
                    source->path, before);
}

/* Bytes for the window: their number, 0 at the end, or a negative code. */
static int64_t fill_compressed(struct tms_input_source *source, char *to, size_t room)
{
    while (source->decoder != NULL) {
        if (!source->inside) {
            int code = next_member(source);
            if (code != TMS_OK) {
                return code;
            }
            continue;
        }
        int64_t got = source->decoder->decode(source, to, room);
        if (got != 0) {
            return got;
        }
        if (source->inside && source->raw_at == source->raw_end) {
            got = refill(source);
            if (got < 0) {
                return got;
            }
            if (got == 0) {
                source->cut = true;
                return 0;
            }
        }
    }
    return 0;
}

static int64_t fill_plain(struct tms_input_source *source, char *to, size_t room)
{
    size_t sniffed = source->raw_end - source->raw_at;

    if (sniffed > 0) {
        sniffed = sniffed < room ? sniffed : room;
        memcpy(to, source->raw + source->raw_at, sniffed);
        source->raw_at += sniffed;
        return (int64_t)sniffed;
    }
    return source->file_ended ? 0 : read_file(source, to, room);
}

/* Moves what is left of the window to its front; a window more than half full is doubled. */
static int make_room(struct tms_input *input, size_t left)
{
    struct tms_input_source *source = input->source;

    memmove(source->window, input->at, left);
    if (left > source->capacity / 2) {
        size_t capacity = source->capacity * 2;
        char *window = tms_resize(&source->context->memory, source->window,
                                  source->capacity + TMS_INPUT_PAD, capacity + TMS_INPUT_PAD, 1);
        if (window == NULL) {
            return tms_fail_memory(source->context);
        }
        source->window = window;
        source->capacity = capacity;
    }
    return TMS_OK;
}

int tms_input_more(struct tms_input *input)
{
    struct tms_input_source *source = input->source;
    size_t left = (size_t)(input->end - input->at);

    input->offset += (uint64_t)(input->at - source->window);
    int code = make_room(input, left);
    char *end = source->window + left;
    int64_t got = code;
    if (code == TMS_OK) {
        size_t room = source->capacity - left;
        got =
            source->compressed ? fill_compressed(source, end, room) : fill_plain(source, end, room);
    }
    if (got > 0) {
        end += got;
    }
    memset(end, 0, TMS_INPUT_PAD);
    input->at = source->window;
    input->end = end;
    return got > 0 ? 1 : (int)got;
}

const char *tms_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static int open_file(struct tms_input_source *source, const char *path)
{
    struct stat status;

    source->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0 || fstat(source->fd, &status) != 0) {
        return tms_fail(source->context, TMS_ERR_IO, "%s: can't be opened: %s", source->path,
                        strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return tms_fail(source->context, TMS_ERR_IO, "%s: is a directory; name a file in it",
                        source->path);
    }
    source->size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    return TMS_OK;
}

/* Keeps buffers small for small files, which are common. */
static size_t buffer_size(const struct tms_input_source *source, size_t most)
{
    if (source->size == 0 || source->size >= most) {
        return most;
    }
    return source->size < BUFFER_LEAST ? BUFFER_LEAST : (size_t)source->size;
}

static int start(struct tms_input *input, const char *path)
{
    struct tms_input_source *source = input->source;
    struct tms_memory *memory = &source->context->memory;

    source->path = tms_input_name(path);
    int code = open_file(source, path);
    if (code != TMS_OK) {
        return code;
    }
    source->capacity = buffer_size(source, WINDOW_MOST);
    source->raw_size = buffer_size(source, RAW_MOST);
    source->window = tms_resize(memory, NULL, 0, source->capacity + TMS_INPUT_PAD, 1);
    source->raw = tms_resize(memory, NULL, 0, source->raw_size, 1);
    if (source->window == NULL || source->raw == NULL) {
        return tms_fail_memory(source->context);
    }
    input->at = input->end = source->window;
    return choose_decoder(source);
}

int tms_input_open(struct tms_context *context, const char *path, struct tms_input *input)
{
    *input = (struct tms_input){0};
    input->source = tms_resize(&context->memory, NULL, 0, 1, sizeof(*input->source));
    if (input->source == NULL) {
        return tms_fail_memory(context);
    }
    input->source->context = context;
    input->source->fd = -1;
    int code = start(input, path);
    if (code != TMS_OK) {
        tms_input_close(input);
    }
    return code;
}

bool tms_input_cut(const struct tms_input *input)
{
    return input->source->cut;
}

uint64_t tms_input_position(const struct tms_input *input, uint64_t *size)
{
    *size = input->source->size;
    return input->source->taken;
}

void tms_input_close(struct tms_input *input)
{
    struct tms_input_source *source = input->source;

    if (source == NULL) {
        return;
    }
    struct tms_memory *memory = &source->context->memory;
    if (source->gzip_ready) {
        inflateEnd(&source->gzip);
    }
    ZSTD_freeDStream(source->zstd);
    if (source->fd > STDIN_FILENO) {
        close(source->fd);
    }
    tms_release(memory, source->window, source->capacity + TMS_INPUT_PAD, 1);
    tms_release(memory, source->raw, source->raw_size, 1);
    tms_release(memory, source, 1, sizeof(*source));
    *input = (struct tms_input){0};
}
