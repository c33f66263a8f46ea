/* SPDX-License-Identifier: MIT */
/* The words that losses are known by, in plain words. */
#ifndef MOUNTWATCH_COMMON_LOSS_REASON_H
#define MOUNTWATCH_COMMON_LOSS_REASON_H

/* A literal, or `reason` itself when it is not one of the known. */
const char *loss_reason_to_text(const char *reason);

#endif
