/* SPDX-License-Identifier: MIT */
/* Shared by lookout.c, lookout_place.c and lookout_read.c; nobody else. */
#ifndef MOUNTWATCH_KERNEL_LOOKOUT_PRIVATE_H
#define MOUNTWATCH_KERNEL_LOOKOUT_PRIVATE_H

#include "daemon/kernel/guesses.h"
#include "daemon/kernel/lookout.h"
#include "daemon/kernel/translate.h"

#define FAMILY 4 /* a database and the files that SQLite puts beside it */

struct Lookout {
        const LookoutConfig *config;
        Place place;
        Tier tier;
        int group;
        Batch batch;
        Ground ground;
        Tree *tree;
        TreeWalk *walk;
        Translator *translator;
        uint64_t seen;            /* records */
        char *family[FAMILY + 1]; /* file scope: the names that are watched */
        bool live;                /* the tree has been read: what is found from now on is new */
        bool astray; /* a directory above the root was moved: the path leads elsewhere */
        bool behind; /* events were dropped: the tree does not match any more */
        nsec_t behind_since;
        Guesses *guesses;
        bool guesses_waited; /* the queue has been read empty since the last was made */
        size_t unmarked;     /* directories that could not be given a mark */
};

/* Opens the group and places what the filesystem takes: one mark, or the first of many. */
int lookout_place(Lookout *l, WatcherStatus *status);
/* Why it is no use to try: objects have no handles at all. */
void lookout_explain_no_handles(WatcherStatus *status);
/* For a tree walk (userdata is the lookout): gives a directory its mark before it is read. */
int lookout_enter(void *userdata, const Node *directory, int fd);
/* For a tree walk: a name that came into a new directory before its mark did. */
void lookout_found(void *userdata, const Found *found);
/* For the translator. */
void lookout_emit(void *userdata, Change *c);

void lookout_put_loss(const Lookout *l, const char *reason, usec_t at, usec_t until,
                      uint64_t count);

#endif
