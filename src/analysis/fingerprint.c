/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes what identifies a finding; see fingerprint.h. */
#define XXH_STATIC_LINKING_ONLY /* the hash state lives on the stack */
#include "analysis/fingerprint.h"

#include <string.h>

#include "base/hash_mix.h"

/*
 * The name that a step of the cycle conflicts on. Threads are left out: which thread was forked
 * does not matter.
 */
static uint32_t name_of_step(const struct tms_step *step)
{
    if (step->on_class == TMS_CLASS_THREAD) {
        return 0;
    }
    return step->on_alias != 0 ? step->on_alias : step->on;
}

/* Buffers a few numbers for the hash. */
struct digest {
    uint64_t hash;
    uint32_t count;
    uint32_t words[64];
};

static void digest_rest(struct digest *digest)
{
    digest->hash =
        XXH3_64bits_withSeed(digest->words, digest->count * sizeof(*digest->words), digest->hash);
    digest->count = 0;
}

static void digest_word(struct digest *digest, uint32_t word)
{
    if (digest->count == sizeof(digest->words) / sizeof(*digest->words)) {
        digest_rest(digest);
    }
    digest->words[digest->count++] = word;
}

/*
 * A name has one id, so within a run ids distinguish findings as well as names do, without a
 * context.
 */
uint64_t tms_fingerprint_key(const struct tms_violation *violation)
{
    if (violation->key != 0) {
        return violation->key;
    }
    struct digest digest = {.hash = XXH3_64bits(violation->kind, strlen(violation->kind))};

    digest_word(&digest, violation->evidence);
    digest_word(&digest, violation->transaction.label);
    for (size_t i = 0; i < violation->cycle_length; i++) {
        const struct tms_step *step = &violation->cycle[i];
        digest_word(&digest, step->from.label);
        digest_word(&digest, step->from.unary | (uint32_t)step->kind << 8 | step->on_class << 16);
        digest_word(&digest, name_of_step(step));
    }
    for (size_t i = 1; i < violation->refuted_count; i++) { /* the first is the transaction */
        digest_word(&digest, violation->refuted[i].label);
    }
    digest_rest(&digest);
    return digest.hash;
}

uint64_t tms_fingerprint_place(const struct tms_finding *finding)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_step *step = &finding->cycle[i];
        uint64_t on = step->on_alias != 0 ? step->on_alias : step->on;
        hash = tms_mix(hash, on << 32 | step->on_class);
    }
    for (size_t i = 1; i < finding->refuted_count; i++) {
        hash = tms_mix(hash, finding->refuted[i].label);
    }
    return hash;
}

/* Buffers texts for the hash: they are mostly short and hashed in one call. */
struct texts {
    size_t length;
    char bytes[512];
    bool long_ones; /* what came before is in `state` */
    XXH3_state_t state;
};

static void hash_bytes(struct texts *texts)
{
    if (!texts->long_ones) {
        XXH3_INITSTATE(&texts->state);
        XXH3_128bits_reset(&texts->state);
        texts->long_ones = true;
    }
    XXH3_128bits_update(&texts->state, texts->bytes, texts->length);
    texts->length = 0;
}

/* `size` counts the zero byte at the end. */
static void hash_more(struct texts *texts, const char *text, size_t size)
{
    while (size > 0) {
        size_t room = sizeof(texts->bytes) - texts->length;
        size_t some = size < room ? size : room;
        memcpy(&texts->bytes[texts->length], text, some);
        texts->length += some;
        text += some;
        size -= some;
        if (texts->length == sizeof(texts->bytes)) {
            hash_bytes(texts);
        }
    }
}

static inline void hash_text(struct texts *texts, const char *text, size_t size)
{
    if (size < sizeof(texts->bytes) - texts->length) {
        memcpy(&texts->bytes[texts->length], text, size);
        texts->length += size;
    } else {
        hash_more(texts, text, size);
    }
}

static XXH128_hash_t hash_of_texts(struct texts *texts)
{
    if (!texts->long_ones) {
        return XXH3_128bits(texts->bytes, texts->length);
    }
    hash_bytes(texts);
    return XXH3_128bits_digest(&texts->state);
}

static void hash_name(const struct tms_context *context, struct texts *texts, enum tms_class cls,
                      uint32_t id)
{
    const struct tms_names *names = &context->names[cls];

    if (cls != TMS_CLASS_NONE && id <= names->count) {
        hash_text(texts, names->texts[id].text, names->texts[id].length + (size_t)1);
    } else {
        hash_text(texts, "", 1);
    }
}

/* A constant text with its size, which need not be computed for every finding. */
struct sized {
    const char *text;
    size_t size;
};
#define SIZED(name, text) {text, sizeof(text)},

static const struct sized evidences[] = {TMS_EVIDENCE(SIZED)};
static const struct sized edges[] = {TMS_EDGE_KINDS(SIZED)};
static const struct sized classes[] = {TMS_CLASSES(SIZED)};
static const struct sized blocks[] = {{"block", sizeof("block")}, {"unary", sizeof("unary")}};
static const struct sized refuted = {"refuted", sizeof("refuted")};

static inline void hash_sized(struct texts *texts, const struct sized *sized)
{
    hash_text(texts, sized->text, sized->size);
}

static void hash_step(const struct tms_context *context, struct texts *texts,
                      const struct tms_step *step)
{
    hash_name(context, texts, TMS_CLASS_LABEL, step->from.label);
    hash_sized(texts, &blocks[step->from.unary]);
    hash_sized(texts, &edges[step->kind]);
    if (step->on_class != TMS_CLASS_THREAD) {
        hash_sized(texts, &classes[step->on_class]);
        hash_name(context, texts, step->on_class, name_of_step(step));
    }
}

XXH128_hash_t tms_fingerprint(const struct tms_context *context, const struct tms_finding *finding)
{
    struct texts texts;

    texts.length = 0;
    texts.long_ones = false;
    hash_text(&texts, finding->kind, strlen(finding->kind) + 1);
    hash_sized(&texts, &evidences[finding->evidence]);
    hash_name(context, &texts, TMS_CLASS_LABEL, finding->transaction.label);
    for (size_t i = 0; i < finding->cycle_length; i++) {
        hash_step(context, &texts, &finding->cycle[i]);
    }
    for (size_t i = 1; i < finding->refuted_count; i++) { /* the first is the transaction */
        hash_sized(&texts, &refuted);
        hash_name(context, &texts, TMS_CLASS_LABEL, finding->refuted[i].label);
    }
    return hash_of_texts(&texts);
}
