/* SPDX-License-Identifier: MIT */
/* SipHash-2-4: 64 bits that stand for a path or a file handle. */
#ifndef MOUNTWATCH_CORE_HASH_H
#define MOUNTWATCH_CORE_HASH_H

#include "common/macro.h"

/* (k0, k1) is the key: the same bytes under another key are another number. The same on every machine. */
uint64_t hash64(const void *data, size_t size, uint64_t k0, uint64_t k1);

#endif
