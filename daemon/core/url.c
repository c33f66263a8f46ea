/* SPDX-License-Identifier: MIT */
#include "daemon/core/url.h"

#include <errno.h>
#include <stdio.h>

#define TOPIC_MAX 64  /* of ntfy */
#define CONCEAL_MIN 3 /* a shorter piece is no secret, and stands everywhere */
#define LAST_MIN 6    /* of the last part of the path alone: "hook" is a word */
#define CONCEALED "..."

static size_t scheme_length(const char *url) {
        return strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
}

/* Host and port: from *ret_host up to the returned place, where the path, the query or nothing begins. */
static const char *find_host(const char *url, const char **ret_host) {
        const char *authority = url + scheme_length(url);
        const char *end = authority + strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', (size_t) (end - authority));

        *ret_host = at ? at + 1 : authority;
        return end;
}

bool url_is_http(const char *url) {
        const char *host, *end;

        if (scheme_length(url) == 0)
                return false;
        for (const char *p = url; *p; p++)
                if (*p <= ' ' || *p > '~' || strchr("\"<>\\^`{|}", *p))
                        return false;
        end = find_host(url, &host);
        return end > host && *host != ':';
}

bool url_has_user(const char *url) {
        const char *host;

        (void) find_host(url, &host);
        return host != url + scheme_length(url);
}

char *url_origin(const char *url) {
        const char *host, *end = find_host(url, &host);
        char *origin;

        if (asprintf(&origin, "%.*s%.*s", (int) scheme_length(url), url, (int) (end - host), host) <
            0)
                return NULL;
        return origin;
}

typedef struct Piece {
        const char *s;
        size_t n;
} Piece;

/* The piece that `text` begins with, or NULL. */
static const Piece *begins_with(const char *text, const Piece *pieces, size_t n_pieces) {
        for (size_t i = 0; i < n_pieces; i++)
                if (pieces[i].n >= CONCEAL_MIN && strncmp(text, pieces[i].s, pieces[i].n) == 0)
                        return &pieces[i];
        return NULL;
}

char *url_conceal(const char *url, const char *text) {
        const char *host, *path = find_host(url, &host), *user = url + scheme_length(url);
        const char *last = strrchr(path, '/');
        const size_t n_user = host > user ? (size_t) (host - user) - 1 : 0;
        const char *colon = n_user > 0 ? memchr(user, ':', n_user) : NULL;
        const size_t n_path = strcspn(path, "?#");
        const size_t n_last = last ? strcspn(last + 1, "?#") : 0;
        /* the whole first; then what a server may quote alone */
        const Piece pieces[] = {
                {path, strlen(path)},
                {path, n_path},
                {path + n_path, strlen(path + n_path)},
                {last ? last + 1 : path, n_last >= LAST_MIN ? n_last : 0},
                {user, n_user},
                {colon ? colon + 1 : user, colon ? n_user - (size_t) (colon + 1 - user) : 0},
        };
        char *out = malloc(strlen(text) + 1), *end = out;

        if (!out)
                return NULL;
        while (*text) {
                const Piece *p = begins_with(text, pieces, ELEMENTSOF(pieces));

                if (p) {
                        end = stpcpy(end, CONCEALED);
                        text += p->n;
                } else
                        *end++ = *text++;
        }
        *end = 0;
        return out;
}

int url_split_topic(const char *url, char **ret_server, char **ret_topic) {
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789_-";
        const char *host, *path = find_host(url, &host);
        const size_t n_path = strcspn(path, "?#");
        const char *slash = memrchr(path, '/', n_path);
        size_t n = slash ? (size_t) (path + n_path - slash - 1) : 0;
        _cleanup_free_ char *server = NULL, *topic = NULL;

        if (n == 0 || n > TOPIC_MAX || strspn(slash + 1, allowed) != n)
                return -EINVAL;
        server = strndup(url, (size_t) (slash + 1 - url));
        topic = strndup(slash + 1, n);
        if (!server || !topic)
                return -ENOMEM;
        *ret_server = TAKE_PTR(server);
        *ret_topic = TAKE_PTR(topic);
        return 0;
}
