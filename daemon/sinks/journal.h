/* SPDX-License-Identifier: MIT */
/*
 * Alerts in the journal: one line for people, and MOUNTWATCH_* fields for those who search. docs/journal.md lists the fields; the
 * ids of messages never change, and systemd/mountwatch.catalog explains each.
 */
#ifndef MOUNTWATCH_SINKS_JOURNAL_H
#define MOUNTWATCH_SINKS_JOURNAL_H

#include "common/alert.h"

#include <sys/uio.h>

#define JOURNAL_ID_VIOLATION "da907d857985433f9410eb3a804faa6f"
#define JOURNAL_ID_UPDATE "f896b83f62644d728dd1697fdc46c1fa"
#define JOURNAL_ID_LOSS "06e116c243e640bea189613ef184f153"
#define JOURNAL_ID_SUMMARY "693aa692c3b741c4bd39a1fda94ddc07"
#define JOURNAL_ID_TEST "0a48afd3d911404d9097c2bb991b1899"
#define JOURNAL_ID_SESSION_STARTED "364fe6d18a604f4789423f804b6ea029"
#define JOURNAL_ID_SESSION_ENDED \
        "98f66327af3a418dbb255937d9516e90" /* of a session that nobody needs to be told of */

typedef struct JournalEntry {
        struct iovec *fields; /* "NAME=value", owned */
        size_t n;
} JournalEntry;

/* What a person reads: one line of text. NULL for lack of memory. */
char *journal_line(const Alert *a);
/* A value of syslog(3). */
int journal_priority(const Alert *a);

int journal_entry_make(const Alert *a, JournalEntry *ret);
void journal_entry_done(JournalEntry *e);

/* Sends the entry. Waits like every message of the log where journald is stopped and its queue (512 messages) is full. */
int journal_send(const Alert *a);

#endif
