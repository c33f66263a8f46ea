/* SPDX-License-Identifier: MIT */
/*
 * The interface description as it stands in the tree, so that what a client is told and what is installed are one file.
 * The assembler reads it, relative to the root of the project, where make runs.
 */
#include "common/varlink.h"

extern const char mountwatch_varlink_text[] __attribute__((visibility("hidden")));

__asm__(".pushsection .rodata\n"
        ".global mountwatch_varlink_text\n"
        ".hidden mountwatch_varlink_text\n"
        ".type mountwatch_varlink_text, %object\n"
        "mountwatch_varlink_text:\n"
        ".incbin \"common/io.mountwatch.varlink\"\n"
        ".byte 0\n"
        ".size mountwatch_varlink_text, . - mountwatch_varlink_text\n"
        ".popsection\n");

const char *const mountwatch_varlink_description = mountwatch_varlink_text;
