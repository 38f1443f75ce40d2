/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the spool of a watched process (src/protocol/spool_format.h). Nothing in it is trusted: the
 * process may have been killed at any point, and a wild pointer may have overwritten the mapped
 * file. Invalid entries are skipped and counted; entries that are returned are valid: lengths fit,
 * texts are terminated, lists are inside their records.
 *
 * The file stays mapped, and records and events are used in place. Finding a record by its id is
 * logarithmic in their number.
 */
#ifndef TMS_SPOOL_SPOOL_READER_H
#define TMS_SPOOL_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/spool_format.h"

/* Records of one type, in the order of the file until they are sorted by id. */
struct tms_spool_entry {
    const struct tms_spool_record *record;
    uint64_t id;       /* the lookup key of sites, labels and threads; the address of names */
    uint32_t thread;   /* of the chunk */
    uint32_t sequence; /* position in the file, among all records */
};

struct tms_spool_list {
    struct tms_spool_entry *entries;
    size_t count, capacity;
};

struct tms_spool_chunk_ref {
    uint64_t at; /* offset in the file */
    uint32_t thread;
    bool sound; /* validated: all events are valid, and their numbers increase */
};

struct tms_spool {
    const unsigned char *map;
    size_t size;
    bool running;                   /* its process was running when this was read */
    struct tms_spool_header header; /* a copy; its texts end */
    struct tms_spool_live live;     /* a copy */
    struct tms_spool_list lists[TMS_SPOOL_TYPES];
    struct tms_spool_chunk_ref *events; /* chunks with events, by thread and then position */
    size_t event_count, event_capacity;
    uint32_t sequence;
    uint64_t damaged; /* chunks, records and events that made no sense */
    uint64_t *joined; /* bit n: the event that starts in the n-th 32 bytes is part of the one before
                         (coalesce_lines.h) */
};

#define TMS_SPOOL_REASON 512

/*
 * Returns false with a sentence in `reason` on failure; call tms_spool_close in both cases. Cost:
 * the number of records; events are not read.
 */
bool tms_spool_open(struct tms_spool *spool, const char *path, char reason[TMS_SPOOL_REASON]);
/* The same while the process runs: copies a consistent snapshot (spool_snapshot.h). */
bool tms_spool_open_running(struct tms_spool *spool, const char *path,
                            char reason[TMS_SPOOL_REASON]);
void tms_spool_close(struct tms_spool *spool);

/* Reads only the header, while the process may still run; false if it is not a spool. */
bool tms_spool_read_header(const char *path, struct tms_spool_header *header);

/* The chunk at an offset of the mapping, not validated. */
static inline const struct tms_spool_chunk *tms_spool_chunk(const struct tms_spool *spool,
                                                            uint64_t at)
{
    return (const void *)(spool->map + at);
}

static inline size_t tms_spool_event_bit(const struct tms_spool *spool,
                                         const struct tms_spool_event *event)
{
    return (size_t)((const unsigned char *)event - spool->map) / sizeof(*event);
}

/* Is an event of the map part of the one before it? */
static inline bool tms_spool_is_joined(const struct tms_spool *spool,
                                       const struct tms_spool_event *event)
{
    size_t bit = event->joins != 0 ? tms_spool_event_bit(spool, event) : 0;

    return event->joins != 0 && (spool->joined[bit / 64] >> bit % 64 & 1) != 0;
}

static inline void tms_spool_join(struct tms_spool *spool, const struct tms_spool_event *event)
{
    size_t bit = tms_spool_event_bit(spool, event);

    spool->joined[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The last record of a type with this id, NULL if there is none. */
const struct tms_spool_entry *tms_spool_find(const struct tms_spool *spool,
                                             enum tms_spool_type type, uint64_t id);

const struct tms_spool_site *tms_spool_site(const struct tms_spool *spool, uint32_t id);

/* The steps of a violation, and after them the blocks it refutes. */
const struct tms_spool_step *tms_spool_steps(const struct tms_spool_violation *violation);
const struct tms_spool_transaction *tms_spool_refuted(const struct tms_spool_violation *violation);

/* The same of predictions and requests. */
const struct tms_spool_transaction *
tms_spool_predicted_refuted(const struct tms_spool_prediction *prediction);
const struct tms_spool_hold *tms_spool_holds(const struct tms_spool_request *request);

/* Writes what is missing, as a sentence without its full stop; false if nothing is. */
bool tms_spool_loss(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

/*
 * The same for synchronisation that was recorded alongside a check, which may be missing
 * separately.
 */
bool tms_spool_loss_sync(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

/* The same for `judge` alone, without what tms_spool_loss has. */
bool tms_spool_loss_judged(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

/* What is missing for a verdict, which also needs a block that could have been interleaved. */
bool tms_spool_doubt(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

#endif
