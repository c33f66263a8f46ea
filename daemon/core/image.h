/* SPDX-License-Identifier: MIT */
/* How the process table makes images; what an image is stands in process.h. */
#ifndef MOUNTWATCH_CORE_IMAGE_H
#define MOUNTWATCH_CORE_IMAGE_H

#include "daemon/core/process.h"

/* Takes references of its own on `parent` and `details->program` (both may be NULL). */
int image_new(Image *parent, const ProcessDetails *details, Image **ret);

/* What the image says of its process, to make the next one from. The program is borrowed. */
ProcessDetails image_details(const Image *i);

/* Does `d` say something that the image does not? Unknown fields of `d` say nothing, a changed directory neither. */
bool image_is_outdated(const Image *i, const ProcessDetails *d);

/* Two start times of one process: computed ones may be a tick off. */
static inline bool ticks_equal(uint64_t a, uint64_t b) {
        return a != 0 && b != 0 && (a > b ? a - b : b - a) <= 1;
}

#endif
