/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of operations that all engines share: what an operation acts on, and which operations
 * on the same target it conflicts with. The columns are those of TMS_OPS; each engine has a table
 * of its own for its handlers.
 */
#ifndef TMS_TRACE_OP_TRAITS_H
#define TMS_TRACE_OP_TRAITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "tmesis/tmesis.h"
#include "trace/op.h"

/* Targets on which operations of several threads conflict; engines keep an array for each. */
enum tms_place { TMS_PLACE_VARIABLE, TMS_PLACE_LOCK, TMS_PLACE_BARRIER, TMS_PLACES };
#define TMS_PLACE_NONE TMS_PLACES

static const uint8_t tms_place_class[TMS_PLACES] = {
    [TMS_PLACE_VARIABLE] = TMS_CLASS_VARIABLE,
    [TMS_PLACE_LOCK] = TMS_CLASS_LOCK,
    [TMS_PLACE_BARRIER] = TMS_CLASS_BARRIER,
};

/* Shared ones conflict with exclusive ones, and these with both; departures with arrivals only. */
enum tms_conflict { TMS_CONFLICT_NONE, TMS_CONFLICT_SHARED, TMS_CONFLICT_EXCLUSIVE };

struct tms_op_traits {
    uint8_t place;    /* enum tms_place, or TMS_PLACE_NONE */
    uint8_t conflict; /* enum tms_conflict */
};

#define TMS_PLACE_OF(cls)                                                                          \
    ((cls) == TMS_CLASS_VARIABLE  ? TMS_PLACE_VARIABLE                                             \
     : (cls) == TMS_CLASS_LOCK    ? TMS_PLACE_LOCK                                                 \
     : (cls) == TMS_CLASS_BARRIER ? TMS_PLACE_BARRIER                                              \
                                  : TMS_PLACE_NONE)

static const struct tms_op_traits tms_op_traits[TMS_OP_COUNT] = {
#define X(name, cls, conflict) {TMS_PLACE_OF(TMS_CLASS_##cls), TMS_CONFLICT_##conflict},
    TMS_OPS(X)
#undef X
};

/* Does another operation on its target conflict with it? */
static inline bool tms_op_conflicts(uint8_t kind)
{
    return tms_op_traits[kind].conflict != TMS_CONFLICT_NONE;
}

static inline bool tms_op_shares(uint8_t kind)
{
    return tms_op_traits[kind].conflict == TMS_CONFLICT_SHARED;
}

/* The kind of an edge between two operations that conflict on a place. */
static inline enum tms_edge_kind tms_conflict_edge(uint8_t place, bool first_shares,
                                                   bool second_shares)
{
    assert(place < TMS_PLACES && !(first_shares && second_shares));
    if (place != TMS_PLACE_VARIABLE) {
        return place == TMS_PLACE_LOCK ? TMS_EDGE_LOCK : TMS_EDGE_BARRIER;
    }
    if (first_shares) {
        return TMS_EDGE_READ_WRITE;
    }
    return second_shares ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

#endif
