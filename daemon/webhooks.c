/* SPDX-License-Identifier: MIT */
#include "daemon/webhooks.h"
#include "common/alert_json.h"
#include "common/json_member.h"
#include "daemon/core/rate.h"
#include "daemon/core/retry.h"
#include "daemon/core/url.h"
#include "daemon/log.h"
#include "daemon/store/store_delivery.h"
#include "daemon/webhook_request.h"

#include <errno.h>
#include <sys/random.h>
#include <utlist.h>

#define NEVER UINT64_MAX
#define CLOCK_SET_BACK \
        (2 * RETRY_AFTER_MAX) /* nothing waits for longer, unless by a clock that was wrong */
#define STORE_PAUSE (30 * USEC_PER_SEC)

typedef struct Target Target;
struct Target {
        Webhooks *owner;
        const Webhook *spec; /* of the running configuration */
        char *origin;
        HttpPost *post;   /* under way, or NULL */
        Delivery current; /* what it brings */
        bool empty;       /* nothing is pending */
        int64_t probe; /* the server does not take anything: this one finds out when it does again; 0: it does */
        unsigned failures; /* in a row, of the server */
        Rate rate;
        uint64_t delivered, dropped;
        usec_t last_success;
        char *last_error;
        Target *prev, *next;
};

struct Webhooks {
        Manager *manager;
        HttpClient *http; /* NULL until it is needed */
        sd_event_source *timer;
        Target *targets; /* list */
};

static void kick(Webhooks *w);

/* ---- targets ---- */

static void target_idle(Target *t) {
        http_post_cancel(TAKE_PTR(t->post));
        delivery_done(&t->current);
}

static Target *target_free(Target *t) {
        if (!t)
                return NULL;
        target_idle(t);
        free(t->origin);
        free(t->last_error);
        free(t);
        return NULL;
}
DEFINE_CLEANUP(Target *, target_free)

static Target *find(Webhooks *w, const char *name) {
        Target *t;

        DL_FOREACH (w->targets, t)
                if (str_equal(t->spec->name, name))
                        return t;
        return NULL;
}

static void store_failed(Target *t, int error) {
        log_error("webhook '%s': cannot write to the store: %s", t->spec->name, strerror(-error));
        manager_store_failed(t->owner->manager, error);
}

static void set_error(Target *t, const char *text) {
        char *copy = strdup(text);

        if (copy) {
                free(t->last_error);
                t->last_error = copy;
        }
}

/* ---- the end of a post ---- */

static void delivered(Target *t) {
        int r = store_remove_delivery(t->owner->manager->store, t->current.id);

        if (r < 0)
                store_failed(t, r);
        if (t->failures > 0)
                log_info("webhook '%s' (%s) takes alerts again", t->spec->name, t->origin);
        t->failures = 0;
        t->probe = 0;
        t->last_success = manager_now(t->owner->manager);
        t->delivered++;
}

static void give_up(Target *t, const char *why) {
        int r = store_bury_delivery(t->owner->manager->store, &t->current);

        if (r < 0)
                store_failed(t, r);
        set_error(t, why);
        t->probe = 0;
        log_error("webhook '%s' (%s): alert %s is given up: %s", t->spec->name, t->origin,
                  t->current.alert, why);
}

static void try_later(Target *t, usec_t pause, bool whole_target, const char *why) {
        Manager *m = t->owner->manager;
        int r;

        r = store_delay_delivery(m->store, t->current.id, manager_now(m) + pause);
        if (r < 0)
                store_failed(t, r);
        set_error(t, why);
        /* the first time only; then status tells */
        log_message((whole_target ? t->failures > 1 : t->current.attempts > 0) ? LOG_DEBUG
                                                                               : LOG_WARNING,
                    "webhook '%s' (%s): %s; alert %s is tried again in %llu s", t->spec->name,
                    t->origin, why, t->current.alert,
                    (unsigned long long) ((pause + USEC_PER_SEC - 1) / USEC_PER_SEC));
}

static void failed(Target *t, const HttpReply *reply, RetryVerdict verdict, const char *why) {
        const bool whole_target = verdict == RETRY_TARGET;
        const usec_t now = manager_now(t->owner->manager);
        const unsigned attempts = t->current.attempts + 1;
        uint32_t random = 0;
        usec_t pause;

        if (verdict == RETRY_NEVER || attempts >= RETRY_ATTEMPTS_MAX ||
            now > t->current.created + RETRY_AGE_MAX) {
                give_up(t, why);
                return;
        }
        t->failures += whole_target;
        t->probe = whole_target ? t->current.id : 0;
        (void) getrandom(&random, sizeof random, GRND_NONBLOCK);
        if (!webhook_reply_pause(reply, now, &pause))
                pause = retry_pause(whole_target ? MAX(attempts, t->failures) : attempts,
                                    t->spec->retry, random);
        try_later(t, pause, whole_target, why);
}

static void on_reply(const HttpReply *reply, void *userdata) {
        Target *t = userdata;
        _cleanup_free_ char *why = webhook_reply_text(t->spec, reply);
        const RetryVerdict verdict = retry_judge(reply->status);

        t->post = NULL;
        if (verdict == RETRY_DELIVERED)
                delivered(t);
        else
                failed(t, reply, verdict, why ? why : "no memory");
        delivery_done(&t->current);
        kick(t->owner);
}

/* ---- the begin ---- */

HttpClient *webhooks_http(Webhooks *w) {
        int r = w->http ? 0 : http_client_new(w->manager->event, &w->http);

        if (r < 0)
                log_error("no webhook is called: %s",
                          r == -ELIBACC ? "libcurl 7.87 or newer (libcurl.so.4) is not installed"
                                        : strerror(-r));
        return w->http;
}

static int make_request(Target *t, WebhookRequest *ret) {
        _cleanup_json_ json_object *o = json_tokener_parse(t->current.body);
        _cleanup_(alert_done) Alert a = {};
        int r = o ? alert_from_json(o, &a) : -EBADMSG;

        return r < 0 ? r : webhook_request_make(t->spec, &a, manager_now(t->owner->manager), ret);
}

static void start(Target *t, usec_t now_mono) {
        _cleanup_(webhook_request_done) WebhookRequest q = {};
        HttpClient *http = webhooks_http(t->owner);
        int r = http ? make_request(t, &q) : -EIO;

        if (r >= 0)
                r = webhook_request_post(&q, t->spec, http, on_reply, t, &t->post);
        if (r >= 0) {
                rate_take(&t->rate, t->spec->rate_limit, now_mono);
                return;
        }
        if (r == -EBADMSG || r == -EINVAL || r == -E2BIG)
                give_up(t, "the alert cannot be sent");
        else
                try_later(t, retry_pause(t->current.attempts + 1, t->spec->retry, 0),
                          /* whole_target= */ false, strerror(-r));
        delivery_done(&t->current);
}

/* Starts the next post when its time has come. How long there is nothing to be done, or NEVER. */
static usec_t advance(Target *t, usec_t now_mono) {
        Manager *m = t->owner->manager;
        const usec_t now = manager_now(m), ready = rate_ready_at(&t->rate, t->spec->rate_limit);
        int r;

        if (t->post || t->empty)
                return NEVER;
        if (ready > now_mono)
                return ready - now_mono;
        r = store_next_delivery(m->store, t->spec->name, t->probe, now, &t->current);
        if (r == 0 && t->probe > 0) {
                /* it had to make room, or was too old */
                t->probe = 0;
                return 0;
        }
        if (r <= 0) {
                if (r < 0)
                        log_error("webhook '%s': cannot read the store: %s", t->spec->name,
                                  strerror(-r));
                t->empty = r == 0;
                return r < 0 ? STORE_PAUSE : NEVER;
        }
        if (t->current.next_at > now && t->current.next_at <= now + CLOCK_SET_BACK) {
                const usec_t wait = t->current.next_at - now;

                delivery_done(&t->current);
                return wait;
        }
        start(t, now_mono);
        return t->post ? NEVER : 0;
}

static void kick(Webhooks *w) {
        const usec_t now_mono = manager_now_mono(w->manager) / NSEC_PER_USEC;
        usec_t wait = NEVER;
        Target *t;

        DL_FOREACH (w->targets, t)
                wait = MIN(wait, advance(t, now_mono));
        if (wait == NEVER) {
                (void) sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
                return;
        }
        (void) sd_event_source_set_time_relative(w->timer, wait);
        (void) sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        kick(userdata);
        return 0;
}

/* ---- alerts ---- */

/* A loss may hide the gravest. A session that did nothing is no news. */
static bool is_wanted(const Webhook *spec, const Alert *a) {
        if (a->kind == ALERT_LOSS)
                return true;
        if (a->kind == ALERT_SUMMARY && a->verdict == VERDICT_CLEAN)
                return false;
        return a->severity >= spec->min_severity;
}

static void count_dropped(Target *t, size_t n) {
        if (n == 0)
                return;
        if (t->dropped == 0)
                log_warning("webhook '%s' (%s): %d alerts wait for it; the oldest are dropped",
                            t->spec->name, t->origin, DELIVERIES_PENDING_MAX);
        t->dropped += n;
}

static void enqueue(Target *t, const Alert *a, const char *body) {
        Manager *m = t->owner->manager;
        const Delivery d = {
                .target = t->spec->name,
                .alert = (char *) a->id,
                .body = (char *) body,
                .summary = a->kind == ALERT_SUMMARY,
                .created = manager_now(m),
                .next_at = manager_now(m),
        };
        size_t dropped = 0;
        int r = store_put_delivery(m->store, &d, &dropped);

        if (r < 0) {
                store_failed(t, r);
                dropped = 1;
        }
        t->empty = false;
        count_dropped(t, dropped);
}

void webhooks_publish(Manager *m, const Alert *a) {
        Webhooks *w = m->webhooks;
        _cleanup_json_ json_object *o = NULL;
        const char *body;
        Target *t;

        if (!w || !w->targets)
                return;
        o = alert_to_json(a);
        body = o ? json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN) : NULL;
        if (!body) {
                log_error("no memory to send alert %s to the webhooks", a->id);
                return;
        }
        DL_FOREACH (w->targets, t)
                if (is_wanted(t->spec, a))
                        enqueue(t, a, body);
        kick(w);
}

/* ---- configuration ---- */

static int add_target(Webhooks *w, const Webhook *spec) {
        _cleanup_(target_freep) Target *t = calloc(1, sizeof *t);

        if (!t)
                return -ENOMEM;
        t->owner = w;
        t->spec = spec;
        t->origin = url_origin(spec->url);
        if (!t->origin)
                return -ENOMEM;
        DL_APPEND(w->targets, t);
        TAKE_PTR(t);
        return 0;
}

/* What is under way is left to finish, unless it goes to the wrong place. */
static int change_target(Target *t, const Webhook *spec) {
        char *origin;

        if (str_equal(t->spec->url, spec->url) && t->spec->format == spec->format) {
                t->spec = spec;
                return 0;
        }
        origin = url_origin(spec->url);
        if (!origin)
                return -ENOMEM;
        target_idle(t);
        free(t->origin);
        t->origin = origin;
        t->spec = spec;
        return 0;
}

static void remove_target(Target *t) {
        size_t pending = 0, dead;

        (void) store_count_deliveries(t->owner->manager->store, t->spec->name, &pending, &dead);
        if (pending > 0)
                log_warning("webhook '%s' is no longer configured; %zu alerts for it stay in the "
                            "store until it is again, or RetainDays= are over",
                            t->spec->name, pending);
        DL_DELETE(t->owner->targets, t);
        (void) target_free(t);
}

static const Webhook *find_spec(const Config *config, const char *name) {
        for (size_t i = 0; i < config->n_webhooks; i++)
                if (str_equal(config->webhooks[i].name, name))
                        return &config->webhooks[i];
        return NULL;
}

static int apply_one(Webhooks *w, const Webhook *spec, bool reload) {
        Target *t = find(w, spec->name);
        int r = t ? change_target(t, spec) : add_target(w, spec);

        if (r < 0) {
                if (t) {
                        DL_DELETE(w->targets, t);
                        (void) target_free(t);
                }
                return r;
        }
        t = find(w, spec->name);
        t->empty = false;
        t->probe = 0;
        t->failures = 0;
        /* whoever has just changed something wants to see whether it helps */
        return reload ? store_hurry_deliveries(w->manager->store, spec->name) : 0;
}

void webhooks_apply(Webhooks *w, const Config *config) {
        const bool reload = w->manager->webhooks != NULL;
        Target *t, *next;
        int r;

        /* now, not when the first alert is on its way: loading libcurl takes tens of milliseconds, and it may not be there */
        if (config->n_webhooks > 0)
                (void) webhooks_http(w);
        DL_FOREACH_SAFE (w->targets, t, next)
                if (!find_spec(config, t->spec->name))
                        remove_target(t);
        for (size_t i = 0; i < config->n_webhooks; i++) {
                r = apply_one(w, &config->webhooks[i], reload);
                if (r < 0)
                        log_error("webhook '%s': %s", config->webhooks[i].name, strerror(-r));
        }
        kick(w);
}

/* ---- status ---- */

static json_object *target_to_json(Target *t) {
        _cleanup_json_ json_object *o = json_object_new_object();
        size_t pending = 0, dead = 0;
        int r = o ? 0 : -ENOMEM;

        (void) store_count_deliveries(t->owner->manager->store, t->spec->name, &pending, &dead);
        r = r < 0 ? r : json_add_text(o, "name", t->spec->name);
        r = r < 0 ? r : json_add_text(o, "host", t->origin);
        r = r < 0 ? r : json_add_text(o, "format", webhook_format_to_string(t->spec->format));
        r = r < 0 ? r : json_add_int(o, "pending", (int64_t) pending);
        r = r < 0 ? r : json_add_int(o, "dead", (int64_t) dead);
        r = r < 0 ? r : json_add_int(o, "delivered", (int64_t) t->delivered);
        r = r < 0 ? r : json_add_int(o, "dropped", (int64_t) t->dropped);
        if (r >= 0 && t->last_success > 0)
                r = json_add_time(o, "lastSuccess", t->last_success);
        r = r < 0 ? r : json_add_text(o, "lastError", t->last_error);
        return r < 0 ? NULL : TAKE_PTR(o);
}

json_object *webhooks_to_json(Webhooks *w) {
        _cleanup_json_ json_object *array = json_object_new_array();
        Target *t;

        DL_FOREACH (w->targets, t) {
                json_object *o = array ? target_to_json(t) : NULL;

                if (!o || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

/* ---- life ---- */

int webhooks_new(Manager *m, Webhooks **ret) {
        _cleanup_(webhooks_freep) Webhooks *w = calloc(1, sizeof *w);
        int r;

        if (!w)
                return -ENOMEM;
        w->manager = m;
        r = sd_event_add_time_relative(m->event, &w->timer, CLOCK_MONOTONIC, 0, 1, on_timer, w);
        if (r >= 0)
                r = sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
        if (r < 0)
                return r;
        webhooks_apply(w, m->config);
        *ret = TAKE_PTR(w);
        return 0;
}

Webhooks *webhooks_free(Webhooks *w) {
        Target *t, *next;

        if (!w)
                return NULL;
        DL_FOREACH_SAFE (w->targets, t, next) {
                DL_DELETE(w->targets, t);
                (void) target_free(t);
        }
        (void) http_client_free(w->http);
        (void) sd_event_source_disable_unref(w->timer);
        free(w);
        return NULL;
}
