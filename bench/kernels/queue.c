/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producer and consumer: messages of some bytes, made by one thread and freed by the other, go
 * through a ring with a mutex and two condition variables.
 */
#include "kernel.h"

#define RING  1024u
#define BYTES 256u

struct message {
    unsigned char bytes[BYTES];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct message *ring[RING];
    size_t first, count;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER};

static void put(struct message *message)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.count == RING) {
        pthread_cond_wait(&queue.not_full, &queue.lock);
    }
    queue.ring[(queue.first + queue.count) % RING] = message;
    if (queue.count++ == 0) {
        pthread_cond_signal(&queue.not_empty);
    }
    pthread_mutex_unlock(&queue.lock);
}

static struct message *take(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.count == 0) {
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    }
    struct message *message = queue.ring[queue.first];
    queue.first = (queue.first + 1) % RING;
    if (queue.count-- == RING) {
        pthread_cond_signal(&queue.not_full);
    }
    pthread_mutex_unlock(&queue.lock);
    return message;
}

static void produce(size_t size)
{
    uint64_t state = 1;

    for (size_t i = 0; i < size; i++) {
        struct message *message = need(1, sizeof(*message));
        uint64_t number = next_random(&state);
        for (size_t at = 0; at < BYTES; at++) {
            message->bytes[at] = (unsigned char)(number >> at % 57);
        }
        put(message);
    }
}

static uint64_t consume(size_t size)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i++) {
        struct message *message = take();
        for (size_t at = 0; at < BYTES; at++) {
            sum = (sum ^ message->bytes[at]) * UINT64_C(0x100000001b3);
        }
        free(message);
    }
    return sum;
}

static void *work(void *argument)
{
    struct part *part = argument;

    if (part->index == 0) {
        produce(part->size);
    } else {
        part->sum = consume(part->size);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    return print_sum(run_parts(work, size_argument(argc, argv, 300000)));
}
