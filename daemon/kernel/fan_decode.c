/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/fan_decode.h"

#include "daemon/core/hash.h"

#include <errno.h>
#include <sys/fanotify.h>

/* include/uapi/linux/fanotify.h; the last two came with 5.17. */
enum {
        INFO_FID = 1,
        INFO_DFID_NAME = 2,
        INFO_DFID = 3,
        INFO_PIDFD = 4,
        INFO_OLD_DFID_NAME = 10,
        INFO_NEW_DFID_NAME = 12,
};

/* struct fanotify_event_info_fid: header, fsid, then the handle. */
#define FID_FIXED (sizeof(struct fanotify_event_info_header) + 8)

uint64_t fan_handle_id(const FanHandle *h) {
        uint64_t id;

        if (!h->data)
                return 0;
        id = hash64(h->data, h->size, (uint32_t) h->type, h->size);
        return id ? id : 1;
}

static int decode_handle(const unsigned char *p, size_t size, FanHandle *ret, size_t *ret_used) {
        uint32_t bytes;
        int32_t type;

        if (size < sizeof(bytes) + sizeof(type))
                return -EBADMSG;
        memcpy(&bytes, p, sizeof(bytes));
        memcpy(&type, p + sizeof(bytes), sizeof(type));
        if (bytes > FAN_HANDLE_MAX || bytes > size - sizeof(bytes) - sizeof(type))
                return -EBADMSG;
        *ret_used = sizeof(bytes) + sizeof(type) + bytes;
        *ret = (FanHandle){.data = p + sizeof(bytes) + sizeof(type), .size = bytes, .type = type};
        return 0;
}

/* The handle and, where the type has one, the name behind it. Padding with NULs follows. */
static int decode_fid(const unsigned char *p, size_t size, bool named, FanName *ret) {
        FanHandle handle;
        size_t used;
        int r;

        if (size < FID_FIXED)
                return -EBADMSG;
        r = decode_handle(p + FID_FIXED, size - FID_FIXED, &handle, &used);
        if (r < 0)
                return r;
        *ret = (FanName){.dir = handle};
        if (!named)
                return 0;
        p += FID_FIXED + used;
        size -= FID_FIXED + used;
        if (size == 0 || !memchr(p, '\0', size))
                return -EBADMSG;
        ret->name = (const char *) p;
        return 0;
}

/* One info record; types that are not known are skipped: a newer kernel may add some. */
static int decode_info(const unsigned char *p, size_t size, int type, FanRecord *rec) {
        FanName fid = {};
        int r;

        switch (type) {
        case INFO_PIDFD:
                if (size < sizeof(struct fanotify_event_info_header) + sizeof(int32_t))
                        return -EBADMSG;
                memcpy(&rec->pidfd, p + sizeof(struct fanotify_event_info_header), sizeof(int32_t));
                rec->has_pidfd = true;
                return 0;
        case INFO_FID:
                r = decode_fid(p, size, /* named= */ false, &fid);
                rec->child = fid.dir;
                return r;
        case INFO_DFID:
                r = decode_fid(p, size, /* named= */ false, &fid);
                if (r < 0)
                        return r;
                /* A directory's own record has one of these alone: the directory is the object. */
                fid.name = ".";
                rec->at = fid;
                return 0;
        case INFO_DFID_NAME:
        case INFO_OLD_DFID_NAME:
                return decode_fid(p, size, /* named= */ true, &rec->at);
        case INFO_NEW_DFID_NAME:
                return decode_fid(p, size, /* named= */ true, &rec->to);
        default:
                return 0;
        }
}

int fan_decode_next(const void *buffer, size_t size, size_t *offset, FanRecord *ret) {
        const unsigned char *p = (const unsigned char *) buffer + *offset;
        struct fanotify_event_metadata m;
        size_t left = size - *offset, at;
        int r = 0;

        *ret = (FanRecord){.fd = -1, .pidfd = -1};
        if (left == 0)
                return 0;
        if (left < sizeof(m))
                return -EBADMSG;
        memcpy(&m, p, sizeof(m));
        if (m.vers != FANOTIFY_METADATA_VERSION || m.metadata_len < sizeof(m) ||
            m.event_len < m.metadata_len || m.event_len > left)
                return -EBADMSG;
        ret->mask = m.mask;
        ret->pid = m.pid;
        ret->fd = m.fd;
        for (at = m.metadata_len; at < m.event_len;) {
                struct fanotify_event_info_header h;
                int q;

                if (m.event_len - at < sizeof(h))
                        return -EBADMSG;
                memcpy(&h, p + at, sizeof(h));
                if (h.len < sizeof(h) || h.len > m.event_len - at)
                        return -EBADMSG;
                /* Goes on after a broken one: a pidfd behind it must be found, to be closed. */
                q = decode_info(p + at, h.len, h.info_type, ret);
                r = r < 0 ? r : q;
                at += h.len;
        }
        if (r < 0)
                return r;
        *offset += m.event_len;
        return 1;
}
