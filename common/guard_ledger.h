/* SPDX-License-Identifier: MIT */
/*
 * The ledger: a page of shared memory (memfd, sealed against shrinking) between the guard thread of the daemon and the
 * `mountwatch run` that keeps a copy of the listener. The daemon writes down which notifications it has received and not yet
 * answered. When the daemon is gone or stands still past the deadline, the client answers these with "continue", and then
 * receives and continues every further one itself, so that no process stays blocked.
 */
#ifndef MOUNTWATCH_COMMON_GUARD_LEDGER_H
#define MOUNTWATCH_COMMON_GUARD_LEDGER_H

#include "common/macro.h"

#include <stdbool.h>

#define GUARD_LEDGER_SLOTS 2048

typedef struct GuardLedger GuardLedger;

/* Makes the memory; *ret_fd belongs to the caller and may be handed to the other side. */
int guard_ledger_new(GuardLedger **ret, int *ret_fd);
/* Maps what the other side made. -EBADF, -EINVAL for anything that is not a sealed ledger of the right size. */
int guard_ledger_map(int fd, GuardLedger **ret);
GuardLedger *guard_ledger_free(GuardLedger *l);
DEFINE_CLEANUP(GuardLedger *, guard_ledger_free)

/* Lock-free, one writer. -ENOBUFS when full. */
int guard_ledger_enter(GuardLedger *l, uint64_t notification, nsec_t now, bool refuse_when_late);
void guard_ledger_leave(GuardLedger *l, uint64_t notification);
/* It is still waited for, and that is as it should be: as if entered now. Done every second, so that an old entry means that
 * nobody looks after it, however long its answer may take. */
void guard_ledger_renew(GuardLedger *l, uint64_t notification, nsec_t now);
/* Every notification entered before `before`; the callback may be told of one that is just leaving. */
void guard_ledger_foreach(GuardLedger *l, nsec_t before,
                          void (*f)(uint64_t notification, bool refuse_when_late, void *userdata),
                          void *userdata);

/* The daemon says that it is well: once a second at least, as long as it is able to receive. */
void guard_ledger_beat(GuardLedger *l);
uint64_t guard_ledger_beats(const GuardLedger *l);
/* The daemon has let go of the listener in good order: what comes now is continued, and nothing is lost by that. */
void guard_ledger_release(GuardLedger *l);
bool guard_ledger_is_released(const GuardLedger *l);
/* The command wanted to supervise system calls itself, and could not. */
void guard_ledger_note_listener(GuardLedger *l);
bool guard_ledger_wanted_listener(const GuardLedger *l);
/* The client answered one for a daemon that did not. `take` tells how many since it was last asked, `lapses` how many in all. */
void guard_ledger_add_lapse(GuardLedger *l);
uint64_t guard_ledger_take_lapses(GuardLedger *l);
uint64_t guard_ledger_lapses(const GuardLedger *l);

#endif
