/* SPDX-License-Identifier: MIT */
#include "common/operation_json.h"
#include "daemon/core/authorisation.h"
#include "daemon/gate_site.h"
#include "daemon/held.h"
#include "daemon/method.h"
#include "daemon/view.h"

#include <errno.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <utlist.h>

/* ---- AttachGuard ---- */

typedef struct Attach {
        ApiCall *call; /* reference */
        char id[17];
} Attach;

/* A copy of descriptor `number` of the peer; -1 for -1. */
static int take_descriptor(const Peer *peer, int64_t number, int *ret) {
        _cleanup_close_ int pidfd = -1;
        int fd;

        if (number < 0) {
                *ret = -1;
                return 0;
        }
        pidfd = pidfd_open(peer->pid, 0);
        if (pidfd < 0)
                return -errno;
        fd = pidfd_getfd(pidfd, (int) number, 0);
        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}

static void on_attached(Manager *m, int r, void *userdata) {
        _cleanup_free_ Attach *a = userdata;
        _cleanup_(api_call_unrefp) ApiCall *call = a->call;
        Live *l = live_find(m, a->id);

        if (l)
                l->guard_promised = false;
        if (r >= 0) {
                if (l)
                        live_store_watches(l);
                (void) api_call_reply(call, NULL, /* continues= */ false);
                return;
        }
        (void) gate_sites_update_holds(m->gate_sites, NULL, NULL);
        answer_errno(call, r);
}

void method_attach_guard(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));
        int64_t listener_number = parameter_int(parameters, "listener", -1),
                ledger_number = parameter_int(parameters, "ledger", -1);
        int listener = -1, ledger = -1, r;
        Manager *m = userdata;
        Attach *a;

        if (!l)
                return;
        if (l->guard) {
                answer_denied(call, "the session has a guard already");
                return;
        }
        if (listener_number < 0 || listener_number > INT32_MAX || ledger_number > INT32_MAX) {
                answer_invalid(call, "listener");
                return;
        }
        r = take_descriptor(peer, listener_number, &listener);
        if (r >= 0)
                r = take_descriptor(peer, ledger_number, &ledger);
        a = r >= 0 ? calloc(1, sizeof *a) : NULL;
        if (!a) {
                (void) safe_close(listener);
                answer_errno(call, r < 0 ? r : -ENOMEM);
                return;
        }
        a->call = api_call_ref(call);
        memcpy(a->id, l->session->id, sizeof a->id);
        r = gate_sites_open_guard(m->gate_sites, l, listener, ledger, on_attached, a);
        if (r < 0) {
                (void) api_call_unref(a->call);
                free(a);
                answer_errno(call, r);
        }
}

/* ---- held operations ---- */

static bool may_see_held(Manager *m, const Peer *peer, const Held *h) {
        const Live *l = live_find(m, h->attempt->session);

        return l && authorise_see(peer->uid, peer->privileged, l->session->uid);
}

void method_list_held(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        json_object *array = json_object_new_array();
        Manager *m = userdata;
        Held *h;

        DL_FOREACH (m->held, h)
                if (array && may_see_held(m, peer, h))
                        json_object_array_add(array, view_held(h));
        answer(call, "held", array);
}

static int decree_of(const char *answer_word) {
        char word[32];

        /* Varlink names have no dashes */
        (void) snprintf(word, sizeof word, "%s", answer_word);
        for (char *c = word; *c; c++)
                if (*c == '_')
                        *c = '-';
        return decree_from_string(word);
}

void method_decide(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        int64_t id = parameter_int(parameters, "id", 0);
        Manager *m = userdata;
        Held *h = id > 0 ? held_find(m, (uint64_t) id) : NULL;
        int decree = decree_of(parameter_string(parameters, "answer"));

        if (!h || !may_see_held(m, peer, h)) {
                json_object *o = json_object_new_object();

                json_object_object_add(o, "id", json_object_new_int64(id));
                (void) api_call_error(call, "NoSuchHeld", o);
                return;
        }
        if (!find_controlled(m, call, peer, h->attempt->session))
                return;
        if (decree < 0 || h->attempt->decision.verb != VERB_ASK) {
                answer_denied(
                        call,
                        "this one waits for the thaw of its session: mountwatch session thaw or kill");
                return;
        }
        held_decide(m, h, (Decree) decree);
        (void) api_call_reply(call, NULL, /* continues= */ false);
}
