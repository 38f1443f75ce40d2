/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the public header's enumerations. */
#include "tmesis/tmesis.h"

/* One text table per X-macro list of the public header. */
#define TEXT_OF(function, type, LIST, ENTRY)                                                       \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const texts[] = {LIST(ENTRY)};                                          \
        size_t index = (size_t)value;                                                              \
        return index < sizeof(texts) / sizeof(texts[0]) ? texts[index] : "?";                      \
    }
#define SECOND(name, text)               text,
#define SECOND_OF_THREE(name, text, cls) text,
#define THIRD_OF_THREE(name, text, more) more,

TEXT_OF(tms_class_text, enum tms_class, TMS_CLASSES, SECOND)
TEXT_OF(tms_event_text, enum tms_event_kind, TMS_EVENT_KINDS, SECOND_OF_THREE)
TEXT_OF(tms_order_text, enum tms_order, TMS_ORDERS, SECOND)
TEXT_OF(tms_verdict_text, enum tms_verdict, TMS_VERDICTS, SECOND)
TEXT_OF(tms_edge_text, enum tms_edge_kind, TMS_EDGE_KINDS, SECOND)
TEXT_OF(tms_evidence_text, enum tms_evidence, TMS_EVIDENCE, SECOND)
TEXT_OF(tms_level_text, enum tms_level, TMS_LEVELS, SECOND)
TEXT_OF(tms_pattern_text, enum tms_pattern, TMS_PATTERNS, SECOND_OF_THREE)
TEXT_OF(tms_pattern_clause, enum tms_pattern, TMS_PATTERNS, THIRD_OF_THREE)

enum tms_class tms_event_class(enum tms_event_kind kind)
{
    static const uint8_t classes[] = {
#define X(name, text, cls) TMS_CLASS_##cls,
        TMS_EVENT_KINDS(X)
#undef X
    };
    return (size_t)kind < sizeof(classes) ? (enum tms_class)classes[kind] : TMS_CLASS_NONE;
}

unsigned tms_event_orders(enum tms_event_kind kind)
{
#define ORDER(name) (1u << TMS_ORDER_##name)
    static const uint8_t orders[TMS_EVENT_COUNT] = {
        [TMS_EVENT_ATOMIC_READ] = ORDER(RELAXED) | ORDER(ACQUIRE) | ORDER(SEQ_CST),
        [TMS_EVENT_ATOMIC_WRITE] = ORDER(RELAXED) | ORDER(RELEASE) | ORDER(SEQ_CST),
        [TMS_EVENT_ATOMIC_UPDATE] =
            ORDER(RELAXED) | ORDER(ACQUIRE) | ORDER(RELEASE) | ORDER(ACQ_REL) | ORDER(SEQ_CST),
        [TMS_EVENT_FENCE] =
            ORDER(RELAXED) | ORDER(ACQUIRE) | ORDER(RELEASE) | ORDER(ACQ_REL) | ORDER(SEQ_CST),
    };
    bool ordered = kind < TMS_EVENT_COUNT && orders[kind] != 0;

    return ordered ? orders[kind] : ORDER(NONE);
#undef ORDER
}
