/* SPDX-License-Identifier: MIT */
/* Losses in plain words, for people. */
#ifndef MOUNTWATCH_CLIENT_LOSS_TEXT_H
#define MOUNTWATCH_CLIENT_LOSS_TEXT_H

#include "common/operation.h"

/* "the kernel's queue of events overflowed on watch nas, 2026-11-30 14:02:11 to 14:02:12 (at least 30 events)".
 * Allocated; NULL: no memory. */
char *loss_to_text(const Loss *l);

#endif
