/* SPDX-License-Identifier: Apache-2.0 */
/* Reports while the process runs; see live_counts.h. */
#include "runtime/core/live_counts.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

#include "runtime/core/coverage.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/thread_registry.h"
#include "runtime/spool/spool_writer.h"

static uint32_t never;

/* Read at every call, written rarely: on a cache line of their own. */
_Alignas(64) _Atomic(uint32_t *) tms_rt_wanted = &never;
_Alignas(64) _Atomic uint32_t tms_rt_answered;

int tms_rt_report_signal;

static _Alignas(64) _Atomic bool busy;

static struct tms_spool_live *live_of(struct tms_spool_header *header)
{
    return header == NULL ? NULL : (void *)((char *)header + TMS_SPOOL_LIVE);
}

void tms_rt_publish_to(struct tms_spool_live *live)
{
    atomic_store(&tms_rt_wanted, live != NULL ? &live->wanted : &never);
    atomic_store(&tms_rt_answered, 0);
    atomic_store(&busy, false);
}

/* Events after the end of the process are not checked, and so not counted. */
static void publish(void *unused)
{
    struct tms_spool_header *header = tms_rt_spool_header();
    struct tms_spool_live *live = live_of(header);
    uint32_t wanted = __atomic_load_n(atomic_load(&tms_rt_wanted), __ATOMIC_ACQUIRE);

    assert(atomic_load(&busy));
    (void)unused;
    atomic_store(&tms_rt_answered, wanted);
    if (live != NULL && header->state == TMS_SPOOL_RUNNING) {
        tms_rt_engine_count();
        tms_rt_registry_count(header);
        tms_rt_coverage_count(live);
        __atomic_store_n(&live->published, wanted, __ATOMIC_RELEASE);
    }
}

void tms_rt_publish(void)
{
    int error = errno;

    if (!atomic_exchange(&busy, true)) {
        tms_rt_call_deep(publish, NULL);
        atomic_store(&busy, false);
    }
    errno = error;
}

void tms_rt_ask_report(void)
{
    struct tms_spool_live *live = live_of(tms_rt_spool_header());

    if (live != NULL) {
        __atomic_fetch_add(&live->asked, 1, __ATOMIC_RELEASE);
    }
}

void tms_rt_heard_signal(int number)
{
    struct tms_spool_live *live = number == SIGTERM ? live_of(tms_rt_spool_header()) : NULL;

    if (live != NULL) {
        __atomic_fetch_add(&live->terminated, 1, __ATOMIC_RELEASE);
    }
}
