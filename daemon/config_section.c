/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "common/strv.h"
#include "daemon/config_section.h"

void auto_session_done(AutoSession *a) {
        free(a->name);
        (void) strv_free(a->match);
}

void webhook_done(Webhook *w) {
        if (w->secret)
                explicit_bzero(w->secret, strlen(w->secret));
        free(w->secret);
        free(w->name);
        free(w->url);
        free(w->url_file);
        free(w->secret_file);
        free(w->ca_file);
        free(w->client_cert_file);
        free(w->client_key_file);
}

int section_new(ConfigKind kind, const char *name, Section **ret) {
        _cleanup_(section_freep) Section *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->kind = kind;
        if (name) {
                s->name = strdup(name);
                s->auto_session.name = strdup(name);
                s->webhook.name = strdup(name);
                if (!s->name || !s->auto_session.name || !s->webhook.name)
                        return -ENOMEM;
        }
        if (kind == CONFIG_WATCH) {
                r = watch_spec_new(name, &s->watch);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(s);
        return 0;
}

Section *section_free(Section *s) {
        if (!s)
                return NULL;
        (void) watch_spec_unref(s->watch);
        auto_session_done(&s->auto_session);
        webhook_done(&s->webhook);
        free(s->name);
        free(s);
        return NULL;
}

void *section_object(Section *s, Config *config) {
        switch (s->kind) {
        case CONFIG_DAEMON:
                return config;
        case CONFIG_WATCH:
                return s->watch;
        case CONFIG_AUTO_SESSION:
                return &s->auto_session;
        case CONFIG_WEBHOOK:
                return &s->webhook;
        case _CONFIG_KIND_MAX:
                break;
        }
        return NULL;
}

int section_reset_keys(ConfigKind kind, void *object) {
        size_t n;
        const ConfigKey *keys = config_keys(kind, &n);
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++)
                r = config_key_reset(&keys[i], object);
        return r;
}

const char *section_title(const Section *s, char buffer[static SECTION_TITLE_MAX]) {
        (void) snprintf(buffer, SECTION_TITLE_MAX, "[%s%s%s]", config_kind_name(s->kind),
                        s->name ? " " : "", s->name ? s->name : "");
        return buffer;
}

Place section_place_of(const Section *s, const char *key) {
        size_t n;
        const ConfigKey *keys = config_keys(s->kind, &n);

        for (size_t i = 0; i < n; i++)
                if (str_equal(keys[i].name, key))
                        return s->set[i];
        return (Place){};
}
