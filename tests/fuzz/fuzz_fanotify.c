/* SPDX-License-Identifier: MIT */
/* Any bytes as what a read of a fanotify descriptor returned: what is decoded lies within them. */
#include "daemon/kernel/fan_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
        if (!holds)
                abort();
}

static void check_handle(const FanHandle *h, const uint8_t *data, size_t size) {
        if (!h->data)
                return;
        check(h->size <= FAN_HANDLE_MAX);
        check(h->data >= data && h->data + h->size <= data + size);
        check(fan_handle_id(h) != 0);
}

static void check_name(const FanName *n, const uint8_t *data, size_t size) {
        const uint8_t *name = (const uint8_t *) n->name;

        check_handle(&n->dir, data, size);
        if (name >= data && name < data + size)
                check(name + strlen(n->name) < data + size);
        else
                check(!name || strcmp(n->name, ".") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        size_t offset = 0, before = 0;
        FanRecord rec;

        while (fan_decode_next(data, size, &offset, &rec) > 0) {
                check(offset > before && offset <= size);
                check_handle(&rec.child, data, size);
                check_name(&rec.at, data, size);
                check_name(&rec.to, data, size);
                before = offset;
        }
        return 0;
}
