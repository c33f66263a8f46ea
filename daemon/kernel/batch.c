/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/batch.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#define BUFFER_SIZE (256U * 1024)
#define READ_SIZE (192U * 1024) /* leaves room for looking ahead */
#define RECORD_MAX 4096U        /* no record is longer: two names, three handles */
#define PIDFD_GONE (-1)         /* FAN_NOPIDFD */

nsec_t clock_nsec(void) {
        struct timespec ts = {};

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

usec_t clock_usec(void) {
        struct timespec ts = {};

        (void) clock_gettime(CLOCK_REALTIME, &ts);
        return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

int batch_init(Batch *b, int fd) {
        *b = (Batch){.fd = fd};
        b->buffer = malloc(BUFFER_SIZE);
        b->mentioned = calloc(BATCH_SLOTS, sizeof(uint32_t));
        b->empty_at = clock_nsec();
        b->empty_at_wall = clock_usec();
        b->drained = true;
        return b->buffer && b->mentioned ? 0 : -ENOMEM;
}

static uint32_t *mention_slot(Batch *b, uint64_t id) {
        return &b->mentioned[id % BATCH_SLOTS];
}

static void set_mention(Batch *b, const Record *rec, uint32_t value) {
        *mention_slot(b, rec->child_id) = value;
        *mention_slot(b, rec->at_id) = value;
        *mention_slot(b, rec->to_id) = value;
}

static void batch_clear(Batch *b) {
        size_t i;

        for (i = 0; i < b->n; i++) {
                b->records[i].fan.fd = safe_close(b->records[i].fan.fd);
                set_mention(b, &b->records[i], 0);
        }
        b->n = 0;
        b->used = 0;
}

void batch_done(Batch *b) {
        batch_clear(b);
        free(b->buffer);
        free(b->mentioned);
        free(b->records);
        *b = (Batch){.fd = -1};
}

/* From 6.19 on a pidfd is given for a reaped process as well: only a signal tells. */
static bool author_is_gone(FanRecord *r) {
        bool gone = r->has_pidfd && r->pidfd == PIDFD_GONE;

        if (r->pidfd >= 0)
                gone = syscall(SYS_pidfd_send_signal, r->pidfd, 0, NULL, 0) < 0 && errno == ESRCH;
        r->pidfd = safe_close(r->pidfd);
        return gone;
}

static int batch_grow(Batch *b) {
        size_t k = b->allocated ? b->allocated * 2 : 1024;
        Record *bigger = reallocarray(b->records, k, sizeof(Record));

        if (!bigger)
                return -ENOMEM;
        b->records = bigger;
        b->allocated = k;
        return 0;
}

int batch_add(Batch *b, const FanRecord *fan, Record **ret) {
        Record *rec;

        if (b->n == b->allocated && batch_grow(b) < 0)
                return -ENOMEM;
        rec = &b->records[b->n++];
        *rec = (Record){.fan = *fan};
        rec->at_id = fan_handle_id(&fan->at.dir);
        rec->to_id = fan_handle_id(&fan->to.dir);
        rec->child_id = fan_handle_id(&fan->child);
        set_mention(b, rec, (uint32_t) b->n);
        *ret = rec;
        return 0;
}

static int batch_decode(Batch *b, size_t end) {
        FanRecord fan;
        Record *rec;
        int r;

        while ((r = fan_decode_next(b->buffer, end, &b->used, &fan)) > 0) {
                bool gone = author_is_gone(&fan);

                r = batch_add(b, &fan, &rec);
                if (r < 0)
                        break;
                rec->author_gone = gone;
        }
        if (r < 0) {
                safe_close(fan.fd);
                safe_close(fan.pidfd);
                b->used = end;
        }
        return r;
}

int batch_read_more(Batch *b) {
        size_t room = MIN(BUFFER_SIZE - b->used, b->used ? BUFFER_SIZE : READ_SIZE), first = b->n;
        nsec_t before = clock_nsec(), after;
        usec_t wall = clock_usec();
        ssize_t n;
        int r;

        if (room < RECORD_MAX)
                return 0;
        n = read(b->fd, b->buffer + b->used, room);
        if (n < 0 && errno != EAGAIN)
                return -errno;
        b->drained = n < 0 || room - (size_t) n >= RECORD_MAX;
        r = n > 0 ? batch_decode(b, b->used + (size_t) n) : 0;
        after = clock_nsec();
        b->burst = b->n >= first + BATCH_BURST;
        for (; first < b->n; first++) {
                b->records[first].burst = b->burst;
                b->records[first].not_before = b->empty_at;
                b->records[first].read_at = after;
                /* no two alike: only the halves of an exchange share their moment (common/net.h) */
                b->records[first].at = first > 0 ? MAX(wall, b->records[first - 1].at + 1) : wall;
        }
        if (b->drained) {
                b->empty_at = before;
                b->empty_at_wall = wall;
        }
        return r < 0 ? r : n > 0;
}

int batch_read(Batch *b) {
        batch_clear(b);
        return batch_read_more(b);
}

static bool is_same_name(const Record *a, const Record *b) {
        return a->child_id == b->child_id && a->at_id == b->at_id && b->fan.at.name &&
                str_equal(a->fan.at.name, b->fan.at.name);
}

static bool is_within(const Record *rec, uint64_t directory) {
        return rec->at_id == directory || rec->to_id == directory;
}

size_t batch_find_later(Batch *b, size_t i) {
        const Record *rec;
        size_t k;

        if (b->records[i].child_id == 0)
                return 0;
        while (!b->drained && batch_read_more(b) > 0)
                ;
        rec = &b->records[i];
        for (k = *mention_slot(b, rec->child_id); k > i + 1; k--) {
                const Record *later = &b->records[k - 1];

                if (is_same_name(rec, later) || is_within(later, rec->child_id))
                        return k - 1;
        }
        return 0;
}

void batch_put_off(Batch *b, size_t i, size_t k) {
        uint32_t *at = &b->records[k].put_off, mine = b->records[i].put_off, *end;

        /* before the first that is the directory of it */
        while (*at && b->records[*at - 1].child_id != b->records[i].at_id)
                at = &b->records[*at - 1].put_off_next;
        /* together with what was to come after this one */
        b->records[i].put_off = 0;
        for (end = &b->records[i].put_off_next, *end = mine; *end;)
                end = &b->records[*end - 1].put_off_next;
        *end = *at;
        *at = (uint32_t) i + 1;
}
