/* SPDX-License-Identifier: MIT */
/* One section of a configuration while it is read: its object, and where what was said. */
#ifndef MOUNTWATCH_CONFIG_SECTION_H
#define MOUNTWATCH_CONFIG_SECTION_H

#include "daemon/config_keys.h"

#define SECTION_NAME_MAX 64
#define SECTION_TITLE_MAX (SECTION_NAME_MAX + 16)

/* The file name is borrowed from the loader. */
typedef struct Place {
        const char *file;
        unsigned line;
} Place;

typedef struct Section {
        ConfigKind kind;
        char *name;       /* NULL for [Daemon] */
        WatchSpec *watch; /* of a [Watch] */
        AutoSession auto_session;
        Webhook webhook;
        Place first, last;          /* headings */
        Place set[CONFIG_KEYS_MAX]; /* the last assignment of each key */
} Section;

int section_new(ConfigKind kind, const char *name, Section **ret);
Section *section_free(Section *s);
DEFINE_CLEANUP(Section *, section_free)

/* What the keys of the section fill; `config` for [Daemon]. */
void *section_object(Section *s, Config *config);
int section_reset_keys(ConfigKind kind, void *object);
/* "[Watch nas]" or "[Daemon]" */
const char *section_title(const Section *s, char buffer[static SECTION_TITLE_MAX]);
/* Where a key was last set; file is NULL when it was not. */
Place section_place_of(const Section *s, const char *key);

void auto_session_done(AutoSession *a);
void webhook_done(Webhook *w);

#endif
