/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's configuration of the runtime, in environment variables: TMESIS_RT_NAME for each
 * row. A program that is started without them runs unwatched, at little more than the cost of the
 * hooks. The command sets them, the runtime reads them before anything else.
 */
#ifndef TMS_PROTOCOL_CONFIG_H
#define TMS_PROTOCOL_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* X(field, TMESIS_RT_…, meaning) */
#define TMS_RT_CONFIG(X)                                                                           \
    X(spool, "SPOOL", "path of the spool file; %p becomes the process id. Unset: run unwatched")   \
    X(mode, "MODE",                                                                                \
      "check (decide inside), record (write events), along (check, and write synchronisation)")    \
    X(full, "FULL", "1: record every access, not only what passes the filter")                     \
    X(spec, "SPEC", "path of a specification file; unset: the default of @functions")              \
    X(atomic, "ATOMIC",                                                                            \
      "@functions, @threads, @locks, @annotations: where blocks come from, with commas")           \
    X(split, "SPLIT", "what cuts a block: wait,barrier,fork,join or none")                         \
    X(max_size, "MAX_SIZE", "bytes that the spool may grow to; unset: no limit")                   \
    X(perturb, "PERTURB", "seed of random delays; unset: none")                                    \
    X(schedule, "SCHEDULE", "path of a schedule file (schedule.h); unset: none")                   \
    X(blame, "BLAME", "0: only the verdict")                                                       \
    X(judge, "JUDGE", "1: judge what happens to the data of blocks")                               \
    X(memory, "MEMORY", "0: plain accesses are not watched")                                       \
    X(exact_races, "EXACT_RACES", "1: exact where threads race, whatever it costs")                \
    X(report_on, "REPORT_ON",                                                                      \
      "number of the signal that asks for a report where its action is the default; unset: none")  \
    X(predict, "PREDICT",                                                                          \
      "what is predicted: bits of enum tms_predict and enum tms_rt_predict; unset: nothing")

enum tms_spool_mode {
    TMS_RT_CHECK = 1,
    TMS_RT_RECORD = 2,
    TMS_RT_FULL = 4,
    TMS_RT_RECORD_SYNC = 8,
    TMS_RT_LOCKS_ONLY = 16, /* the program was not built for it: its memory is not watched */
    TMS_RT_NO_MEMORY = 32,  /* its memory is not watched because that was asked for */
};

/* Beside those of enum tms_predict: windows of acquires (sidetrack), nested locks (goodlock). */
enum tms_rt_predict { TMS_RT_PREDICT_WINDOWS = 1 << 16, TMS_RT_PREDICT_NESTING = 1 << 17 };

struct tms_rt_config {
#define X(field, name, meaning) const char *field;
    TMS_RT_CONFIG(X)
#undef X
};

/*
 * Where a process that can't be watched says so: a datagram socket of the command, in the abstract
 * namespace, which is reached after chroot and setuid as well. It is named after the directory of
 * the spools. Returns the length of the address.
 */
static inline socklen_t tms_rt_failure_address(const char *spool, struct sockaddr_un *address)
{
    const char *slash = strrchr(spool, '/');
    size_t length = slash != NULL ? (size_t)(slash - spool) : strlen(spool);
    size_t most = sizeof(address->sun_path) - 1;
    size_t left_out = length > most ? length - most : 0; /* the end is what is unique */

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, spool + left_out, length - left_out);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length - left_out);
}

#endif
