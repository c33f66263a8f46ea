/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/signature.h"
#include "common/path_text.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#define PREFIX "whsec_"
#define KEY_MIN 24
#define KEY_MAX 64

typedef struct Key {
        char *bytes;
        size_t size;
} Key;

static void key_done(Key *k) {
        if (k->bytes)
                explicit_bzero(k->bytes, k->size);
        free(k->bytes);
}

/* The next line that is not blank. 1, or 0 at the end. */
static int next_key(const char **p, Key *ret) {
        const char *s = *p + strspn(*p, " \t\r\n");
        const size_t n = strcspn(s, " \t\r\n");
        char line[256];
        int r;

        if (n == 0)
                return 0;
        if (n >= sizeof line || strncmp(s, PREFIX, strlen(PREFIX)) != 0)
                return -EINVAL;
        memcpy(line, s, n);
        line[n] = 0;
        r = base64_decode(line + strlen(PREFIX), &ret->bytes, &ret->size);
        explicit_bzero(line, sizeof line);
        if (r < 0)
                return r;
        *p = s + n;
        return ret->size < KEY_MIN || ret->size > KEY_MAX ? -EINVAL : 1;
}

int signature_check_secrets(const char *secrets) {
        size_t n = 0;
        int r;

        do {
                _cleanup_(key_done) Key key = {};

                r = next_key(&secrets, &key);
                n += r > 0;
        } while (r > 0);
        return r < 0 ? r : n == 0 || n > SIGNATURE_SECRETS_MAX ? -EINVAL : 0;
}

static int sign(const Key *key, const void *data, size_t size, char **ret) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned n = 0;

        if (!HMAC(EVP_sha256(), key->bytes, (int) key->size, data, size, digest, &n))
                return -EIO;
        *ret = base64_encode(digest, n);
        return *ret ? 0 : -ENOMEM;
}

static int signed_text(const char *id, int64_t timestamp, const void *body, size_t size, char **ret,
                       size_t *ret_size) {
        char *text, *grown;
        const int n = asprintf(&text, "%s.%" PRId64 ".", id, timestamp);

        if (n < 0)
                return -ENOMEM;
        grown = realloc(text, (size_t) n + size);
        if (!grown) {
                free(text);
                return -ENOMEM;
        }
        memcpy(grown + n, body, size);
        *ret = grown;
        *ret_size = (size_t) n + size;
        return 0;
}

static int append(char **value, const char *signature) {
        char *longer;

        if (asprintf(&longer, "%s%sv1,%s", *value ? *value : "", *value ? " " : "", signature) < 0)
                return -ENOMEM;
        free(*value);
        *value = longer;
        return 0;
}

int signature_make(const char *secrets, const char *id, int64_t timestamp, const void *body,
                   size_t size, char **ret) {
        _cleanup_free_ char *text = NULL, *value = NULL;
        size_t n_text = 0;
        int r;

        r = signed_text(id, timestamp, body, size, &text, &n_text);
        if (r < 0)
                return r;
        for (;;) {
                _cleanup_(key_done) Key key = {};
                _cleanup_free_ char *signature = NULL;

                r = next_key(&secrets, &key);
                if (r <= 0)
                        break;
                r = sign(&key, text, n_text, &signature);
                if (r >= 0)
                        r = append(&value, signature);
                if (r < 0)
                        break;
        }
        if (r < 0)
                return r;
        if (!value)
                return -EINVAL;
        *ret = TAKE_PTR(value);
        return 0;
}
