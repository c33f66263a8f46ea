/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "common/strv.h"
#include "daemon/config_file.h"
#include "daemon/config_problem.h"
#include "daemon/config_section.h"
#include "daemon/config_text.h"
#include "daemon/config_webhook.h"

#define SECTIONS_MAX 256

typedef struct Loader {
        Config *config;
        Section **sections;
        size_t n_sections;
        Section *current; /* NULL: none yet, or one that is passed over */
        bool passing_over;
        Place at;
        char **files;
        ConfigProblems *problems;
        bool with_files; /* that sections name */
        int error;       /* of the first file that could not be read */
} Loader;

#define problem(l, place, fatal, ...) \
        config_problem_add((l)->problems, (place).file, (place).line, fatal, __VA_ARGS__)

Config *config_free(Config *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->n_watches; i++)
                (void) watch_spec_unref(c->watches[i]);
        for (size_t i = 0; i < c->n_auto_sessions; i++)
                auto_session_done(&c->auto_sessions[i]);
        for (size_t i = 0; i < c->n_webhooks; i++)
                webhook_done(&c->webhooks[i]);
        free(c->watches);
        free(c->auto_sessions);
        free(c->webhooks);
        free(c->group);
        free(c);
        return NULL;
}

/* ---- sections ---- */

static Section *find_section(const Loader *l, ConfigKind kind, const char *name) {
        for (size_t i = 0; i < l->n_sections; i++)
                if (l->sections[i]->kind == kind && str_equal(l->sections[i]->name, name))
                        return l->sections[i];
        return NULL;
}

static int add_section(Loader *l, ConfigKind kind, const char *name, Section **ret) {
        _cleanup_(section_freep) Section *s = NULL;
        Section **grown;
        int r;

        r = section_new(kind, name, &s);
        if (r >= 0)
                r = section_reset_keys(kind, section_object(s, l->config));
        if (r < 0)
                return r;
        grown = realloc(l->sections, (l->n_sections + 1) * sizeof(void *));
        if (!grown)
                return -ENOMEM;
        s->first = l->at;
        l->sections = grown;
        *ret = l->sections[l->n_sections++] = TAKE_PTR(s);
        return 0;
}

static bool is_name(const char *s) {
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.-";

        return *s && strlen(s) <= SECTION_NAME_MAX && s[strspn(s, allowed)] == 0;
}

static int unknown_section(Loader *l, const char *title, const char *type) {
        const char *meant = config_kind_suggest(type);

        return problem(l, l->at, /* fatal= */ false, "unknown section [%.100s]%s%s%s", title,
                       meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "");
}

/* The second heading in one file would quietly change the first one's watch: a copy that was not renamed. In another file it is
 * how a drop-in changes a section. */
static int enter_section(Loader *l, ConfigKind kind, const char *name) {
        Section *s = find_section(l, kind, name);
        char title[SECTION_TITLE_MAX];
        int r;

        if (s && s->last.file == l->at.file)
                return problem(l, l->at, /* fatal= */ true, "%s is in this file already, line %u",
                               section_title(s, title), s->last.line);
        if (!s) {
                if (l->n_sections >= SECTIONS_MAX)
                        return problem(l, l->at, /* fatal= */ true, "more than %d sections",
                                       SECTIONS_MAX);
                r = add_section(l, kind, name, &s);
                if (r < 0)
                        return r;
        }
        s->last = l->at;
        l->current = s;
        l->passing_over = false;
        return 0;
}

static int on_section(Loader *l, const char *title) {
        _cleanup_free_ char *type = NULL;
        size_t n = strcspn(title, " \t");
        const char *name = title + n + strspn(title + n, " \t");
        int kind;

        l->current = NULL;
        l->passing_over = true;
        type = strndup(title, n);
        if (!type)
                return -ENOMEM;
        kind = config_kind_find(type);
        if (kind < 0 || (kind == CONFIG_DAEMON && *name))
                return unknown_section(l, title, type);
        if (kind == CONFIG_DAEMON)
                return enter_section(l, kind, NULL);
        if (!*name)
                return problem(l, l->at, /* fatal= */ true, "the section needs a name: [%s NAME]",
                               type);
        if (!is_name(name))
                return problem(l, l->at, /* fatal= */ true,
                               "'%.100s' is no name: 1 to %d letters, digits, '_', '.', '-'", name,
                               SECTION_NAME_MAX);
        return enter_section(l, kind, name);
}

/* ---- assignments ---- */

static int unknown_key(Loader *l, const char *name) {
        const char *meant = config_key_suggest(l->current->kind, name);
        char title[SECTION_TITLE_MAX];

        return problem(l, l->at, /* fatal= */ false, "unknown key '%.100s' in %s%s%s%s", name,
                       section_title(l->current, title), meant ? " (did you mean '" : "",
                       meant ? meant : "", meant ? "'?)" : "");
}

/* What a later assignment replaces is said when it is probably not meant: twice in one file, or another path for a watch. */
static int note_replaced(Loader *l, const ConfigKey *key, const Place *before) {
        if (key->list || !before->file)
                return 0;
        if (before->file == l->at.file)
                return problem(l, l->at, /* fatal= */ false, "%s was set already, line %u",
                               key->name, before->line);
        if (key->required)
                return problem(l, l->at, /* fatal= */ false, "%s replaces that of %s:%u", key->name,
                               before->file, before->line);
        return 0;
}

static int assign(Loader *l, const ConfigKey *key, Place *set, const char *value) {
        void *object = section_object(l->current, l->config);
        _cleanup_free_ char *reason = NULL;
        int r;

        if (!*value) {
                *set = (Place){};
                return config_key_reset(key, object);
        }
        r = note_replaced(l, key, set);
        if (r < 0)
                return r;
        *set = l->at;
        r = key->parse(value, (char *) object + key->offset, &reason);
        if (r == -EINVAL)
                return problem(l, l->at, /* fatal= */ true, "%s: %s", key->name, reason);
        return r;
}

static int on_assignment(Loader *l, const char *name, const char *value) {
        const ConfigKey *keys;
        size_t n;

        if (l->passing_over)
                return 0;
        if (!l->current)
                return problem(l, l->at, /* fatal= */ true, "'%.100s' stands outside of a section",
                               name);
        keys = config_keys(l->current->kind, &n);
        for (size_t i = 0; i < n; i++)
                if (str_equal(keys[i].name, name))
                        return assign(l, &keys[i], &l->current->set[i], value);
        return unknown_key(l, name);
}

static int on_line(void *userdata, unsigned line, ConfigLine kind, const char *a, const char *b) {
        Loader *l = userdata;

        l->at.line = line;
        switch (kind) {
        case CONFIG_LINE_SECTION:
                return on_section(l, a);
        case CONFIG_LINE_ASSIGNMENT:
                return on_assignment(l, a, b);
        case CONFIG_LINE_BAD:
                return problem(l, l->at, /* fatal= */ true, "%s", a);
        }
        return 0;
}

/* ---- files ---- */

static int load_text(Loader *l, const char *name, const char *text, size_t size) {
        if (!strv_append(&l->files, name))
                return -ENOMEM;
        l->at = (Place){.file = l->files[strv_length(l->files) - 1]};
        l->current = NULL;
        l->passing_over = false;
        return config_text_parse(text, size, on_line, l);
}

/* Only a lack of memory is a failure; that a file cannot be read is a problem, and the loader's error. */
static int cannot_read(Loader *l, const char *path, int error) {
        if (error == -ENOMEM)
                return error;
        if (l->error == 0)
                l->error = error;
        if (error == -EBADF)
                return config_problem_add(l->problems, path, 0, /* fatal= */ true,
                                          "not a regular file");
        if (error == -EFBIG)
                return config_problem_add(l->problems, path, 0, /* fatal= */ true,
                                          "larger than %d bytes", CONFIG_FILE_MAX);
        return config_problem_add(l->problems, path, 0, /* fatal= */ true, "cannot be read: %s",
                                  strerror(-error));
}

static int load_file(Loader *l, const char *path) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r = config_file_read(path, &text, &size);

        if (r < 0)
                return cannot_read(l, path, r);
        return text ? load_text(l, path, text, size) : 0;
}

static int load_drop_ins(Loader *l, const char *file) {
        _cleanup_free_ char *folder = NULL;
        _cleanup_(strv_freep) char **paths = NULL;
        int r;

        if (asprintf(&folder, "%s.d", file) < 0) {
                folder = NULL;
                return -ENOMEM;
        }
        r = config_file_list(folder, &paths);
        if (r < 0)
                return r == -ENOENT ? 0 : cannot_read(l, folder, r);
        for (size_t i = 0; r >= 0 && paths && paths[i]; i++)
                r = load_file(l, paths[i]);
        return r;
}

/* ---- what only the whole can tell ---- */

static int check_required(Loader *l, Section *s) {
        size_t n;
        const ConfigKey *keys = config_keys(s->kind, &n);
        char title[SECTION_TITLE_MAX];
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                if (keys[i].required && !s->set[i].file)
                        r = problem(l, s->first, /* fatal= */ true,
                                    "%s has no %s=", section_title(s, title), keys[i].name);
        return r;
}

static int check_same_path(Loader *l, const Section *s) {
        for (size_t i = 0; i < l->n_sections; i++) {
                const Section *other = l->sections[i];

                if (other == s)
                        return 0;
                if (other->kind == CONFIG_WATCH && s->watch->path &&
                    str_equal(other->watch->path, s->watch->path))
                        return problem(l, section_place_of(s, "Path"), /* fatal= */ true,
                                       "Path: '%.200s' is that of [Watch %s] already",
                                       s->watch->path, other->name);
        }
        return 0;
}

/* The files it names are looked at when there is a place where they would be: not for text. */
static int check_webhook(Loader *l, Section *s) {
        _cleanup_free_ char *reason = NULL;
        char title[SECTION_TITLE_MAX];
        const char *key = NULL;
        Place place;
        int r;

        r = webhook_complete(&s->webhook, l->with_files, &key, &reason);
        if (r == -EINVAL && !key)
                return problem(l, s->first, /* fatal= */ true, "%s %s", section_title(s, title),
                               reason);
        if (r == -EINVAL)
                return problem(l, section_place_of(s, key), /* fatal= */ true, "%s: %s", key,
                               reason);
        place = section_place_of(s, "Url");
        if (r >= 0 && l->with_files && place.file && webhook_url_is_open(&s->webhook, place.file))
                return problem(
                        l, place, /* fatal= */ false,
                        "Url: this address is as good as a password, and others can read this "
                        "file: chmod it, or use UrlFile=");
        return r;
}

static int check_whole(Loader *l) {
        size_t n_watches = 0, n_webhooks = 0;
        int r = 0;

        for (size_t i = 0; i < l->n_sections && r >= 0; i++) {
                Section *s = l->sections[i];

                r = check_required(l, s);
                if (r >= 0 && s->kind == CONFIG_WATCH)
                        r = check_same_path(l, s);
                if (r >= 0 && s->kind == CONFIG_WEBHOOK)
                        r = check_webhook(l, s);
                if (r >= 0 && s->kind == CONFIG_WATCH && ++n_watches == CONFIG_WATCHES_MAX + 1)
                        r = problem(l, s->first, /* fatal= */ true, "more than %d watches",
                                    CONFIG_WATCHES_MAX);
                if (r >= 0 && s->kind == CONFIG_WEBHOOK && ++n_webhooks == CONFIG_WEBHOOKS_MAX + 1)
                        r = problem(l, s->first, /* fatal= */ true, "more than %d webhooks",
                                    CONFIG_WEBHOOKS_MAX);
        }
        return r;
}

/* Moves what the sections hold into the Config. */
static int take_sections(Loader *l) {
        Config *c = l->config;

        c->watches = calloc(l->n_sections + 1, sizeof(void *));
        c->auto_sessions = calloc(l->n_sections + 1, sizeof *c->auto_sessions);
        c->webhooks = calloc(l->n_sections + 1, sizeof *c->webhooks);
        if (!c->watches || !c->auto_sessions || !c->webhooks)
                return -ENOMEM;
        for (size_t i = 0; i < l->n_sections; i++) {
                Section *s = l->sections[i];

                if (s->kind == CONFIG_WATCH)
                        c->watches[c->n_watches++] = TAKE_PTR(s->watch);
                else if (s->kind == CONFIG_AUTO_SESSION) {
                        c->auto_sessions[c->n_auto_sessions++] = s->auto_session;
                        s->auto_session = (AutoSession){};
                } else if (s->kind == CONFIG_WEBHOOK) {
                        c->webhooks[c->n_webhooks++] = s->webhook;
                        s->webhook = (Webhook){};
                }
        }
        return 0;
}

/* ---- the loader ---- */

static int loader_init(Loader *l, ConfigProblems *problems) {
        *l = (Loader){.problems = problems, .config = calloc(1, sizeof *l->config)};
        return l->config ? section_reset_keys(CONFIG_DAEMON, l->config) : -ENOMEM;
}

static void loader_done(Loader *l) {
        for (size_t i = 0; i < l->n_sections; i++)
                (void) section_free(l->sections[i]);
        free(l->sections);
        (void) strv_free(l->files);
        (void) config_free(l->config);
}

/* `r` is how reading went. */
static int loader_finish(Loader *l, int r, Config **ret) {
        if (r >= 0)
                r = check_whole(l);
        if (r < 0)
                return r;
        if (l->error < 0)
                return l->error;
        if (l->problems->fatal)
                return -EINVAL;
        r = take_sections(l);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l->config);
        return 0;
}

int config_load(const char *file, Config **ret, ConfigProblems *problems) {
        _cleanup_(loader_done) Loader l;
        int r;

        r = loader_init(&l, problems);
        l.with_files = true;
        if (r >= 0)
                r = load_file(&l, file);
        if (r >= 0 && l.error == 0)
                r = load_drop_ins(&l, file);
        return loader_finish(&l, r, ret);
}

int config_parse(const char *name, const char *text, Config **ret, ConfigProblems *problems) {
        _cleanup_(loader_done) Loader l;
        int r;

        r = loader_init(&l, problems);
        if (r >= 0)
                r = load_text(&l, name, text, strlen(text));
        return loader_finish(&l, r, ret);
}
