/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/notifier.h"

#define SERVICE "org.freedesktop.Notifications"
#define OBJECT "/org/freedesktop/Notifications"

struct Notifier {
        sd_bus *bus;
        const NotifierHandler *handler;
        void *userdata;
        sd_bus_slot *owner, *pressed, *closed; /* matches */
        sd_bus_slot *asking;                   /* what can it do? NULL: nobody asks */
        bool there, markup, buttons;
};

/* What a reply needs to know; it outlives the Notifier only together with the bus. */
typedef struct Showing {
        Notifier *notifier;
        Bubble *bubble;
} Showing;

static void free_showing(void *userdata) {
        free(userdata);
}

Notifier *notifier_free(Notifier *n) {
        if (!n)
                return NULL;
        (void) sd_bus_slot_unref(n->owner);
        (void) sd_bus_slot_unref(n->pressed);
        (void) sd_bus_slot_unref(n->closed);
        (void) sd_bus_slot_unref(n->asking);
        (void) sd_bus_unref(n->bus);
        free(n);
        return NULL;
}

bool notifier_is_there(const Notifier *n) {
        return n->there;
}

/* ---- is it there? ---- */

static int read_capabilities(Notifier *n, sd_bus_message *m) {
        const char *word;
        int r = sd_bus_message_enter_container(m, 'a', "s");

        n->markup = n->buttons = false;
        while (r > 0) {
                r = sd_bus_message_read(m, "s", &word);
                if (r > 0 && str_equal(word, "body-markup"))
                        n->markup = true;
                if (r > 0 && str_equal(word, "actions"))
                        n->buttons = true;
        }
        return r;
}

static int on_capabilities(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Notifier *n = userdata;

        n->asking = sd_bus_slot_unref(n->asking);
        if (sd_bus_message_is_method_error(m, NULL) || read_capabilities(n, m) < 0)
                return 0;
        n->there = true;
        n->handler->came(n->userdata);
        return 0;
}

void notifier_seek(Notifier *n) {
        if (!n->there && !n->asking)
                (void) sd_bus_call_method_async(n->bus, &n->asking, SERVICE, OBJECT, SERVICE,
                                                "GetCapabilities", on_capabilities, n, "");
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        const char *name, *before, *now;
        Notifier *n = userdata;

        if (sd_bus_message_read(m, "sss", &name, &before, &now) < 0)
                return 0;
        if (*before) {
                /* what was asked of the one that is gone is not answered by the next */
                n->asking = sd_bus_slot_unref(n->asking);
                n->there = false;
                n->handler->went(n->userdata);
        }
        if (*now)
                notifier_seek(n);
        return 0;
}

/* ---- what it tells ---- */

static int on_pressed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Notifier *n = userdata;
        const char *key;
        uint32_t id;

        if (sd_bus_message_read(m, "us", &id, &key) >= 0)
                n->handler->pressed(n->userdata, id, key);
        return 0;
}

static int on_closed(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        uint32_t id, reason;
        Notifier *n = userdata;

        if (sd_bus_message_read(m, "uu", &id, &reason) >= 0)
                n->handler->closed(n->userdata, id, reason);
        return 0;
}

int notifier_new(sd_bus *bus, const NotifierHandler *handler, void *userdata, Notifier **ret) {
        _cleanup_(notifier_freep) Notifier *n = calloc(1, sizeof *n);
        int r;

        if (!n)
                return -ENOMEM;
        n->bus = sd_bus_ref(bus);
        n->handler = handler;
        n->userdata = userdata;
        /* of this name only: on a desktop names come and go all the time */
        r = sd_bus_add_match(bus, &n->owner,
                             "type='signal',sender='org.freedesktop.DBus',"
                             "path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',"
                             "member='NameOwnerChanged',arg0='" SERVICE "'",
                             on_owner, n);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &n->pressed, SERVICE, OBJECT, SERVICE, "ActionInvoked",
                                        on_pressed, n);
        if (r >= 0)
                r = sd_bus_match_signal(bus, &n->closed, SERVICE, OBJECT, SERVICE,
                                        "NotificationClosed", on_closed, n);
        if (r < 0)
                return r;
        notifier_seek(n);
        *ret = TAKE_PTR(n);
        return 0;
}

/* ---- what it is told ---- */

static bool is_gone(sd_bus_message *m) {
        static const char *const errors[] = {SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_TIMEOUT,
                                             SD_BUS_ERROR_SERVICE_UNKNOWN,
                                             SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                             SD_BUS_ERROR_DISCONNECTED};

        for (size_t i = 0; i < ELEMENTSOF(errors); i++)
                if (sd_bus_message_is_method_error(m, errors[i]))
                        return true;
        return false;
}

static int on_shown(sd_bus_message *m, void *userdata, sd_bus_error *error) {
        Showing *s = userdata;
        uint32_t id = 0;

        /* the error may come before the news that the name has lost its owner */
        if (is_gone(m))
                s->notifier->there = false;
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "u", &id) < 0)
                id = 0;
        s->notifier->handler->shown(s->notifier->userdata, s->bubble, id);
        return 0;
}

static const char *icon_of(Urgency urgency) {
        switch (urgency) {
        case URGENCY_LOW:
                return "dialog-information";
        case URGENCY_NORMAL:
                return "dialog-warning";
        case URGENCY_CRITICAL:
                break;
        }
        return "dialog-error";
}

static int append_buttons(const Notifier *n, sd_bus_message *m, const Bubble *b) {
        Button buttons[BUBBLE_BUTTONS_MAX];
        size_t count = n->buttons ? bubble_buttons(b, buttons) : 0;
        int r = sd_bus_message_open_container(m, 'a', "s");

        for (size_t i = 0; r >= 0 && i < count; i++)
                r = sd_bus_message_append(m, "ss", button_key(buttons[i]),
                                          button_label(buttons[i]));
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int make_notify(const Notifier *n, const Bubble *b, sd_bus_message **ret) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_free_ char *body = bubble_body(b, n->markup, n->buttons);
        Urgency urgency = bubble_urgency(b);
        int r;

        if (!body)
                return -ENOMEM;
        r = sd_bus_message_new_method_call(n->bus, &m, SERVICE, OBJECT, SERVICE, "Notify");
        if (r >= 0)
                r = sd_bus_message_append(m, "susss", "mountwatch", b->id, icon_of(urgency),
                                          b->title, body);
        if (r >= 0)
                r = append_buttons(n, m, b);
        /* 0: it stays until somebody closes it; -1: as long as the service thinks right */
        if (r >= 0)
                r = sd_bus_message_append(m, "a{sv}i", 1, "urgency", "y", (int) urgency,
                                          urgency == URGENCY_CRITICAL ? 0 : -1);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

int notifier_show(Notifier *n, Bubble *b) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
        Showing *s;
        int r = make_notify(n, b, &m);

        if (r < 0)
                return r;
        s = malloc(sizeof *s);
        if (!s)
                return -ENOMEM;
        *s = (Showing){.notifier = n, .bubble = b};
        r = sd_bus_call_async(n->bus, &slot, m, on_shown, s, 0);
        if (r < 0) {
                free(s);
                return r;
        }
        (void) sd_bus_slot_set_destroy_callback(slot, free_showing);
        (void) sd_bus_slot_set_floating(slot, 1);
        return 0;
}

void notifier_close(Notifier *n, uint32_t id) {
        (void) sd_bus_call_method_async(n->bus, NULL, SERVICE, OBJECT, SERVICE, "CloseNotification",
                                        NULL, NULL, "u", id);
}
