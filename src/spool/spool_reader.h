/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the spool of a watched process (src/protocol/spool_format.h). Nothing in it is trusted: the
 * process may have been killed anywhere, and a wild pointer of its own may have hit the mapped
 * file. Entries that make no sense are left out and counted; entries that are returned are valid:
 * lengths fit, texts end, lists are inside their records.
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
    uint64_t id;       /* of sites, labels, threads: what they are looked up by; address of names */
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
    bool sound; /* its events were looked at: all make sense, and their numbers rise */
};

struct tms_spool {
    const unsigned char *map;
    size_t size;
    bool running;                   /* its process was when this was read */
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
 * True, or false with a sentence in `reason`. tms_spool_close is due in both cases. Cost: the
 * records of the file; events are not looked at.
 */
bool tms_spool_open(struct tms_spool *spool, const char *path, char reason[TMS_SPOOL_REASON]);
/* The same while the process runs, as it is at this moment (spool_snapshot.h): all of it is copied.
 */
bool tms_spool_open_running(struct tms_spool *spool, const char *path,
                            char reason[TMS_SPOOL_REASON]);
void tms_spool_close(struct tms_spool *spool);

/* The header alone, while the process may still run; false if it is none of ours. */
bool tms_spool_read_header(const char *path, struct tms_spool_header *header);

/* In the map, as it is, at an offset. */
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

/* What is missing, as one sentence without its full stop: false if nothing is. */
bool tms_spool_loss(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

/* The same for what was recorded along with a check, which may be missing by itself. */
bool tms_spool_loss_sync(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

/* What is missing for a verdict, which also needs a block that could have been cut apart. */
bool tms_spool_doubt(const struct tms_spool *spool, char sentence[TMS_SPOOL_REASON]);

#endif
