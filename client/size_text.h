/* SPDX-License-Identifier: MIT */
/* "1.5 MiB". */
#ifndef MOUNTWATCH_CLIENT_SIZE_TEXT_H
#define MOUNTWATCH_CLIENT_SIZE_TEXT_H

#include "common/macro.h"

#define SIZE_TEXT_MAX 32
char *size_text(uint64_t bytes, char buffer[static SIZE_TEXT_MAX]);

#endif
