/* SPDX-License-Identifier: MIT */
#include "daemon/config_webhook.h"
#include "daemon/core/url.h"
#include "daemon/secret_file.h"
#include "daemon/sinks/signature.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct Complaint {
        const char *key;
        char *reason;
} Complaint;

static int complain(Complaint *c, const char *key, const char *reason) {
        c->reason = strdup(reason);
        if (!c->reason)
                return -ENOMEM;
        c->key = key;
        return -EINVAL;
}

static int check_keys(const Webhook *w, Complaint *c) {
        char reason[64];

        if (!w->url && !w->url_file)
                return complain(c, NULL, "has neither Url= nor UrlFile=");
        if (w->url && w->url_file)
                return complain(c, NULL, "has both Url= and UrlFile=");
        if (w->client_key_file && !w->client_cert_file)
                return complain(c, "ClientKeyFile", "needs ClientCertFile=");
        if (w->secret_file && w->format != WEBHOOK_JSON && w->format != WEBHOOK_NTFY) {
                (void) snprintf(reason, sizeof reason, "is of no use with Format=%s",
                                webhook_format_to_string(w->format));
                return complain(c, "SecretFile", reason);
        }
        return 0;
}

static int check_topic(const Webhook *w, Complaint *c) {
        _cleanup_free_ char *server = NULL, *topic = NULL;
        int r;

        if (!w->url || w->format != WEBHOOK_NTFY)
                return 0;
        r = url_split_topic(w->url, &server, &topic);
        if (r == -EINVAL)
                return complain(c, w->url_file ? "UrlFile" : "Url",
                                "the address names no topic of ntfy: https://HOST/TOPIC");
        return r;
}

/* The content of a secret file; 0 and NULL when it is not for us to read. */
static int read_secret(const char *key, const char *path, char **ret, Complaint *c) {
        int r = secret_file_read(path, ret, &c->reason);

        if (r == -EINVAL)
                c->key = key;
        return r == -EACCES ? 0 : r;
}

static int read_url(Webhook *w, Complaint *c) {
        int r = w->url_file ? read_secret("UrlFile", w->url_file, &w->url, c) : 0;

        if (r >= 0 && w->url && !url_is_http(w->url))
                return complain(c, "UrlFile",
                                "the file has no http or https address and nothing else in it");
        return r;
}

static bool is_token(const char *s) {
        for (; *s; s++)
                if (*s <= ' ' || *s > '~')
                        return false;
        return true;
}

static int read_key(Webhook *w, Complaint *c) {
        int r = w->secret_file ? read_secret("SecretFile", w->secret_file, &w->secret, c) : 0;

        if (r < 0 || !w->secret)
                return r;
        if (w->format == WEBHOOK_NTFY && !is_token(w->secret))
                return complain(c, "SecretFile",
                                "the file has no access token and nothing else in it");
        if (w->format != WEBHOOK_JSON)
                return 0;
        r = signature_check_secrets(w->secret);
        if (r == -EINVAL)
                return complain(c, "SecretFile",
                                "the file has no secret in it: whsec_ and the base64 of 24 to 64 "
                                "bytes, each on a line, four at most");
        return r;
}

static int check_open_file(const char *key, const char *path, Complaint *c) {
        if (!path || access(path, R_OK) >= 0 || (errno == EACCES && geteuid() != 0))
                return 0;
        if (asprintf(&c->reason, "'%.200s' cannot be read: %s", path, strerror(errno)) < 0) {
                c->reason = NULL;
                return -ENOMEM;
        }
        c->key = key;
        return -EINVAL;
}

static int check_files(const Webhook *w, Complaint *c) {
        const char *key = w->client_key_file ? "ClientKeyFile" : "ClientCertFile";
        /* without a file of its own, the key is in that of the certificate */
        const char *path = w->client_key_file ? w->client_key_file : w->client_cert_file;
        _cleanup_free_ char *content = NULL;
        int r;

        r = path ? read_secret(key, path, &content, c) : 0;
        if (content)
                explicit_bzero(content, strlen(content));
        r = r < 0 ? r : check_open_file("ClientCertFile", w->client_cert_file, c);
        return r < 0 ? r : check_open_file("CaFile", w->ca_file, c);
}

int webhook_complete(Webhook *w, bool with_files, const char **ret_key, char **ret_reason) {
        Complaint c = {};
        int r;

        r = check_keys(w, &c);
        if (r >= 0 && with_files)
                r = read_url(w, &c);
        if (r >= 0)
                r = check_topic(w, &c);
        if (r >= 0 && with_files)
                r = read_key(w, &c);
        if (r >= 0 && with_files)
                r = check_files(w, &c);
        *ret_key = c.key;
        *ret_reason = c.reason;
        return r;
}

bool webhook_url_is_open(const Webhook *w, const char *file) {
        struct stat st;

        if (w->format != WEBHOOK_SLACK && w->format != WEBHOOK_DISCORD && !url_has_user(w->url))
                return false;
        return stat(file, &st) >= 0 && (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
}
