/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and locks of a synthetic trace; the discipline is explained in shared_state.h. */
#include "gen/shared_state.h"

#include <assert.h>
#include <stdlib.h>

/* Attempts to find a variable or lock that the rank may use. */
#define TRIES 4

static void lay_out(struct tms_shared_state *store, const struct tms_shape *shape,
                    uint64_t variables)
{
    uint64_t shared = variables * shape->sharing / TMS_MILLION;
    store->own = (variables - shared) / shape->threads;
    if (store->own == 0 || shared > 0) {
        shared = variables - store->own * shape->threads;
    }
    store->guarded = store->locks > 0 ? shared * shape->guarded / TMS_MILLION : 0;
    if (store->guarded == variables) {
        store->guarded--; /* threads without a lock need at least one variable */
    }
    store->open = shared - store->guarded;
    store->atomic = store->open * shape->atomics / TMS_MILLION;
}

bool tms_shared_state_init(struct tms_shared_state *store, const struct tms_shape *shape,
                           uint64_t variables, uint64_t locks)
{
    *store = (struct tms_shared_state){
        .ranked = shape->planting != TMS_PLANT_ANY, .locks = locks, .sharing = shape->sharing};
    lay_out(store, shape, variables);
    store->cells = calloc(store->guarded + store->open + 1, sizeof *store->cells);
    store->gates = calloc(locks + 1, sizeof *store->gates);
    return store->cells != NULL && store->gates != NULL;
}

void tms_shared_state_clear(struct tms_shared_state *store)
{
    free(store->cells);
    free(store->gates);
}

static uint64_t rank_of(struct tms_shared_state *store, uint64_t *rank)
{
    if (*rank == 0) {
        *rank = ++store->clock;
    }
    return *rank;
}

static bool try_cell(struct tms_shared_state *store, uint64_t index, bool write, uint64_t rank)
{
    struct tms_cell *cell = &store->cells[index];
    if (store->ranked && (cell->write > rank || (write && cell->read > rank))) {
        return false;
    }
    uint64_t *mark = write ? &cell->write : &cell->read;
    if (*mark < rank) {
        *mark = rank;
    }
    return true;
}

static uint64_t guarded_by(const struct tms_shared_state *store, struct tms_random *random,
                           uint64_t lock)
{
    uint64_t count = (store->guarded - lock + store->locks - 1) / store->locks;
    return lock + store->locks * tms_random_below(random, count);
}

static bool access_open(struct tms_shared_state *store, struct tms_random *random, bool write,
                        uint64_t *rank, uint64_t *variable)
{
    for (int i = 0; i < TRIES; i++) {
        *variable = store->guarded + tms_random_below(random, store->open);
        if (try_cell(store, *variable, write, rank_of(store, rank))) {
            return true;
        }
    }
    return false;
}

bool tms_shared_state_access(struct tms_shared_state *store, struct tms_random *random,
                             uint64_t slot, uint64_t lock, bool write, uint64_t *rank,
                             uint64_t *variable)
{
    if (lock < store->guarded) {
        *variable = guarded_by(store, random, lock);
        bool may = try_cell(store, *variable, write, rank_of(store, rank));
        assert(may); /* every earlier access held the lock, which now has our rank */
        return may;
    }
    if (store->open > 0 && (store->own == 0 || tms_chance(random, store->sharing)) &&
        access_open(store, random, write, rank, variable)) {
        return true;
    }
    if (store->own > 0) {
        *variable =
            store->guarded + store->open + slot * store->own + tms_random_below(random, store->own);
        return true;
    }
    return false;
}

bool tms_shared_state_lock(struct tms_shared_state *store, struct tms_random *random,
                           uint64_t *rank, uint64_t *lock)
{
    for (int i = 0; i < TRIES && store->locks > 0; i++) {
        *lock = tms_random_below(random, store->locks);
        struct tms_gate *gate = &store->gates[*lock];
        if (!gate->held && (!store->ranked || gate->rank <= rank_of(store, rank))) {
            *gate = (struct tms_gate){.rank = rank_of(store, rank), .held = true};
            return true;
        }
    }
    return false;
}

void tms_shared_state_unlock(struct tms_shared_state *store, uint64_t lock, uint64_t *rank)
{
    struct tms_gate *gate = &store->gates[lock];
    assert(gate->held);
    *gate = (struct tms_gate){.rank = rank_of(store, rank), .held = false};
}
