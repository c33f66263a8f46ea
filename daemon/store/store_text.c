/* SPDX-License-Identifier: MIT */
/* Directories, watches, marks and rules: long, few, and repeated by many operations of a block. */
#include "daemon/store/store_internal.h"

int text_intern(Store *s, const char *p, size_t size, uint64_t hash, int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        CachedId *cached = &s->texts[hash % TEXT_CACHE_SIZE];
        int r;

        if (!p) {
                *ret = 0;
                return 0;
        }
        if (cached->id != 0 && cached->hash == hash) {
                *ret = cached->id;
                return 0;
        }
        r = statement_open(s, STATEMENT_TEXT_PUT, "INSERT INTO text(id, bytes) VALUES(?, ?)", &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, s->text_next);
        statement_bind_bytes(&st, p, size);
        r = statement_run(&st);
        if (r < 0)
                return r;
        *cached = (CachedId){.hash = hash, .id = s->text_next};
        *ret = s->text_next++;
        return 0;
}

void text_forget(Store *s) {
        memset(s->texts, 0, sizeof s->texts);
}
