/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_delivery.h"
#include "daemon/store/store_internal.h"

#include <errno.h>

void delivery_done(Delivery *d) {
        free(d->target);
        free(d->alert);
        free(d->body);
        *d = (Delivery){};
}

/* Runs a statement whose parameters are a text (may be NULL: none) and numbers, and commits. How many rows it changed. */
static int change(Store *s, StatementSlot slot, const char *sql, const char *text,
                  const int64_t *numbers, size_t n) {
        _cleanup_(statement_done) Statement st = {0};
        int changed, r = store_begin(s);

        if (r >= 0)
                r = statement_open(s, slot, sql, &st);
        if (r < 0)
                return r;
        if (text)
                statement_bind_text(&st, text);
        for (size_t i = 0; i < n; i++)
                statement_bind_int(&st, numbers[i]);
        changed = statement_run(&st);
        if (changed < 0)
                return changed;
        r = store_flush(s);
        return r < 0 ? r : changed;
}

/* dead: 0 or 1 */
static int count(Store *s, const char *target, int64_t dead, size_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_DELIVERY_COUNT,
                               "SELECT count(*) FROM delivery WHERE target = ? AND dead = ?", &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, target);
        statement_bind_int(&st, dead);
        r = statement_step(&st);
        if (r > 0)
                *ret = (size_t) statement_int(&st, 0);
        return r < 0 ? r : 0;
}

/* Makes room for one: the oldest goes, a summary only when there is nothing else. */
static int make_room(Store *s, const char *target, int64_t dead, size_t max, size_t *ret_dropped) {
        const int64_t numbers[] = {dead, 0};
        size_t n = 0;
        int r = count(s, target, dead, &n);

        *ret_dropped = 0;
        while (r >= 0 && n >= max) {
                r = change(s, STATEMENT_DELIVERY_DROP,
                           "DELETE FROM delivery WHERE id = (SELECT id FROM delivery "
                           "WHERE target = ? AND dead = ? ORDER BY summary, id LIMIT 1) AND id > ?",
                           target, numbers, ELEMENTSOF(numbers));
                if (r == 0)
                        break;
                if (r > 0) {
                        n--;
                        (*ret_dropped)++;
                }
        }
        return r < 0 ? r : 0;
}

int store_put_delivery(Store *s, const Delivery *d, size_t *ret_dropped) {
        _cleanup_(statement_done) Statement st = {0};
        size_t dropped = 0;
        int r = make_room(s, d->target, 0, DELIVERIES_PENDING_MAX, &dropped);

        if (r >= 0)
                r = store_begin(s);
        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_DELIVERY_PUT,
                        "INSERT INTO delivery(target, alert, body, summary, attempts, created, "
                        "next_at, dead) VALUES(?, ?, ?, ?, ?, ?, ?, 0)",
                        &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, d->target);
        statement_bind_text(&st, d->alert);
        statement_bind_string(&st, d->body);
        statement_bind_int(&st, d->summary);
        statement_bind_int(&st, d->attempts);
        statement_bind_int(&st, (int64_t) d->created);
        statement_bind_int(&st, (int64_t) d->next_at);
        r = statement_run(&st);
        r = r < 0 ? r : store_flush(s);
        if (r < 0)
                return r;
        *ret_dropped = dropped;
        return 0;
}

static int read_row(Statement *st, Delivery *ret) {
        Delivery d = {
                .id = statement_int(st, 0),
                .summary = statement_int(st, 4) != 0,
                .attempts = (unsigned) statement_int(st, 5),
                .created = (usec_t) statement_int(st, 6),
                .next_at = (usec_t) statement_int(st, 7),
        };
        int r = statement_string(st, 1, &d.target);

        r = r < 0 ? r : statement_string(st, 2, &d.alert);
        r = r < 0 ? r : statement_string(st, 3, &d.body);
        if (r >= 0 && (!d.target || !d.alert || !d.body))
                r = -EUCLEAN;
        if (r < 0) {
                delivery_done(&d);
                return r;
        }
        *ret = d;
        return 0;
}

int store_next_delivery(Store *s, const char *target, int64_t only, usec_t now, Delivery *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_DELIVERY_NEXT,
                "SELECT id, target, alert, body, summary, attempts, created, next_at FROM delivery "
                "WHERE target = ?1 AND dead = 0 AND (?2 = 0 OR id = ?2) "
                "ORDER BY CASE WHEN next_at <= ?3 THEN 0 ELSE next_at END, id LIMIT 1",
                &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, target);
        statement_bind_int(&st, only);
        statement_bind_int(&st, (int64_t) now);
        r = statement_step(&st);
        if (r <= 0)
                return r;
        r = read_row(&st, ret);
        return r < 0 ? r : 1;
}

int store_delay_delivery(Store *s, int64_t id, usec_t next_at) {
        const int64_t numbers[] = {(int64_t) next_at, id};
        int r = change(s, STATEMENT_DELIVERY_DELAY,
                       "UPDATE delivery SET attempts = attempts + 1, next_at = ? WHERE id = ?",
                       NULL, numbers, ELEMENTSOF(numbers));

        return r < 0 ? r : 0;
}

int store_bury_delivery(Store *s, const Delivery *d) {
        size_t dropped;
        int r = make_room(s, d->target, 1, DELIVERIES_DEAD_MAX, &dropped);

        if (r >= 0)
                r = change(s, STATEMENT_DELIVERY_BURY,
                           "UPDATE delivery SET attempts = attempts + 1, dead = 1 WHERE id = ?",
                           NULL, &d->id, 1);
        return r < 0 ? r : 0;
}

int store_remove_delivery(Store *s, int64_t id) {
        int r = change(s, STATEMENT_DELIVERY_REMOVE, "DELETE FROM delivery WHERE id = ?", NULL, &id,
                       1);

        return r < 0 ? r : 0;
}

int store_hurry_deliveries(Store *s, const char *target) {
        int r = change(s, STATEMENT_DELIVERY_HURRY,
                       "UPDATE delivery SET next_at = 0 WHERE target = ? AND dead = 0", target,
                       NULL, 0);

        return r < 0 ? r : 0;
}

int store_count_deliveries(Store *s, const char *target, size_t *ret_pending, size_t *ret_dead) {
        size_t pending = 0, dead = 0;
        int r = count(s, target, 0, &pending);

        r = r < 0 ? r : count(s, target, 1, &dead);
        if (r < 0)
                return r;
        *ret_pending = pending;
        *ret_dead = dead;
        return 0;
}
