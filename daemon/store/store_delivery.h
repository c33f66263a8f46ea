/* SPDX-License-Identifier: MIT */
/*
 * Deliveries: alerts on their way to a target. A row is there before the first attempt and goes with the last one, so that whatever
 * ends the daemon costs a repetition at most. Dead ones, which are not tried any more, stay for people to see.
 *
 * Every function that writes commits. Errors are those of store.h.
 */
#ifndef MOUNTWATCH_STORE_STORE_DELIVERY_H
#define MOUNTWATCH_STORE_STORE_DELIVERY_H

#include "daemon/store/store.h"

#define DELIVERIES_PENDING_MAX 1000 /* of a target; then the oldest that is no summary goes */
#define DELIVERIES_DEAD_MAX 100     /* of a target; then the oldest goes */

typedef struct Delivery {
        int64_t id;   /* in the order of their coming */
        char *target; /* name of the webhook */
        char *alert;  /* id of the alert */
        char *body;   /* the alert, as JSON */
        bool summary;
        unsigned attempts;
        usec_t created, next_at;
} Delivery;

void delivery_done(Delivery *d);

/* *ret_dropped: how many had to go for it. */
int store_put_delivery(Store *s, const Delivery *d, size_t *ret_dropped);
/* Of the pending ones: the oldest that is due, else the one that will be due first. `only`: none but this one; 0: any. 1, or 0 when there
 * is none. */
int store_next_delivery(Store *s, const char *target, int64_t only, usec_t now, Delivery *ret);
/* It failed once more. */
int store_delay_delivery(Store *s, int64_t id, usec_t next_at);
int store_bury_delivery(Store *s, const Delivery *d);
int store_remove_delivery(Store *s, int64_t id);
/* All that wait are due: the target has changed. */
int store_hurry_deliveries(Store *s, const char *target);
int store_count_deliveries(Store *s, const char *target, size_t *ret_pending, size_t *ret_dead);

#endif
