/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/size_text.h"

char *size_text(uint64_t bytes, char buffer[static SIZE_TEXT_MAX]) {
        static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
        double n = (double) bytes;
        size_t i = 0;

        for (; n >= 1024 && i + 1 < ELEMENTSOF(units); i++)
                n /= 1024;
        (void) snprintf(buffer, SIZE_TEXT_MAX, i == 0 ? "%.0f %s" : "%.1f %s", n, units[i]);
        return buffer;
}
