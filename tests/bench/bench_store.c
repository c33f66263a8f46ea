/* SPDX-License-Identifier: MIT */
/*
 * How fast the store takes operations and gives them back, and how much room one takes. One line of JSON.
 *
 *      bench_store DIR [OPERATIONS]
 *
 * DIR is made, and left behind for a look at the database.
 */
#include "daemon/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define SESSION_ID "00000000000000aa"
#define FLUSH_EVERY 50000 /* half a second's worth */
#define PAGE 256

static double now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int fail(const char *what, int r) {
        errno = -r;
        (void) fprintf(stderr, "bench_store: %s: %m\n", what);
        return EXIT_FAILURE;
}

static int put_session(Store *s) {
        _cleanup_(session_freep) Session *session = NULL;
        int r = session_new(0xaa, 1000, 1800000000 * USEC_PER_SEC, &session);

        return r < 0 ? r : store_put_session(s, session);
}

/* Distinct paths of about 60 bytes, a hundred in each directory, in no order. */
static int put_operation(Store *s, uint64_t i) {
        char path[128];
        bool folded;
        uint64_t name = i * UINT64_C(0x9e3779b97f4a7c15);
        usec_t at = 1800000000 * USEC_PER_SEC + i * 5;
        Operation o = {
                .session = (char *) SESSION_ID,
                .process_id = (int64_t) (i / 1000 + 1),
                .op = OP_CREATE,
                .watch = (char *) "nas",
                .path = path,
                .count = 1,
                .first = at,
                .last = at,
                .action = ACTION_ALERTED,
                .violation = true,
                .attribution = SIGHT_EXACT,
                .test = (char *) "tests/test_backup.py::test_rotation",
        };

        (void) snprintf(path, sizeof path,
                        "/mnt/nas/backup/daily/2026-11-30/%08llu/file-%012llx.dat",
                        (unsigned long long) i / 100, (unsigned long long) name >> 16);
        return store_put_operation(s, &o, &folded);
}

static int put_operations(Store *s, uint64_t n) {
        int r = 0;

        for (uint64_t i = 0; i < n && r >= 0; i++) {
                r = put_operation(s, i);
                if (r >= 0 && i % FLUSH_EVERY == FLUSH_EVERY - 1)
                        r = store_flush(s);
        }
        return r < 0 ? r : store_flush(s);
}

/* One file written again and again. */
static int fold_operations(Store *s, uint64_t n) {
        Operation o = {
                .session = (char *) SESSION_ID,
                .op = OP_MODIFY,
                .watch = (char *) "nas",
                .path = (char *) "/mnt/nas/log/server.log",
                .count = 1,
                .first = 1,
                .attribution = SIGHT_EXACT,
        };
        bool folded;
        int r = 0;

        for (uint64_t i = 0; i < n && r >= 0; i++) {
                o.last = i;
                r = store_put_operation(s, &o, &folded);
        }
        return r < 0 ? r : store_flush(s);
}

static int read_operations(Store *s, const char *session, uint64_t *ret) {
        StoreQuery q = {.session = session, .with_inner = session != NULL, .uid = (uid_t) -1};
        Operation page[PAGE];
        uint64_t total = 0;
        size_t n;
        int r;

        while ((r = store_read_operations(s, &q, page, PAGE, &n)) >= 0 && n > 0) {
                q.after_seq = page[n - 1].seq;
                total += n;
                for (size_t i = 0; i < n; i++)
                        operation_done(&page[i]);
        }
        *ret = total;
        return r;
}

int main(int argc, char **argv) {
        _cleanup_(store_closep) Store *s = NULL;
        uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, n_read, n_all, size;
        double start, put, folded, read_session, read_all;
        struct rusage usage;
        int r;

        if (argc < 2 || n == 0)
                return fail("usage: bench_store DIR [OPERATIONS]", -EINVAL);
        r = store_open(argv[1], &s);
        if (r >= 0)
                r = put_session(s);
        if (r < 0)
                return fail("cannot open", r);
        start = now();
        r = put_operations(s, n);
        put = now() - start;
        if (r >= 0)
                r = store_size(s, &size);
        start = now();
        if (r >= 0)
                r = read_operations(s, SESSION_ID, &n_read);
        read_session = now() - start;
        start = now();
        if (r >= 0)
                r = read_operations(s, NULL, &n_all);
        read_all = now() - start;
        start = now();
        if (r >= 0)
                r = fold_operations(s, n);
        folded = now() - start;
        if (r < 0)
                return fail("cannot go on", r);
        (void) getrusage(RUSAGE_SELF, &usage);
        (void) printf(
                "{\"operations\": %llu, \"insertsPerSecond\": %.0f, \"foldsPerSecond\": %.0f, "
                "\"bytesPerOperation\": %.1f, \"sessionReadsPerSecond\": %.0f, "
                "\"readsPerSecond\": %.0f, \"maxRssKiB\": %ld}\n",
                (unsigned long long) n, (double) n / put, (double) n / folded,
                (double) size / (double) n, (double) n_read / read_session,
                (double) n_all / read_all, usage.ru_maxrss);
        return n_read == n && n_all == n ? EXIT_SUCCESS : EXIT_FAILURE;
}
