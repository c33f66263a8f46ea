/* SPDX-License-Identifier: MIT */
/*
 * What `mountwatch init` found worth watching, as a list without doubles, and as the sections of a configuration. Pure: what was found is
 * put in by find_*.h.
 */
#ifndef MOUNTWATCH_CLIENT_FINDING_H
#define MOUNTWATCH_CLIENT_FINDING_H

#include <stdbool.h>
#include <stdio.h>

#include "common/macro.h"

#define FINDINGS_MAX 100

typedef struct Finding {
        char *path; /* absolute, what Path= can say */
        char *name; /* of the watch */
        char *why;  /* "NFS share nas:/export", for people */
        bool preserve;
} Finding;

typedef struct Findings {
        Finding *items;
        size_t n;
        char **names;         /* taken: of these, and of the watches that are configured already */
        char **paths;         /* configured already */
        size_t n_unspeakable; /* no line of a configuration can hold the path */
        size_t n_dropped;     /* above FINDINGS_MAX */
} Findings;

void findings_done(Findings *f);

/* A watch that is configured already. -ENOMEM. */
int findings_know(Findings *f, const char *name, const char *path);

/* Copies. What lies on or below something in the list, or is configured, is left out. 1: added, 0: not, -ENOMEM. */
int findings_add(Findings *f, const char *path, bool preserve, const char *why);

/* Whether this path is found or configured, or lies below what is. */
bool findings_cover(const Findings *f, const char *path);

/* Keeps those whose numbers, from 1 on, stand in `text` ("1 3, 5"), in their order. -EINVAL when it says anything else; then the list is as it was. */
int findings_choose(Findings *f, const char *text);

/* A section [Watch NAME] for each, with why as a comment. */
void findings_write(const Findings *f, FILE *file);

#endif
