/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/api/fixture.h"

#define PATIENCE_USEC (30 * USEC_PER_SEC) /* only a failing test takes that long */

static void reply_at_once(ApiCall *call, const Peer *peer, json_object *parameters,
                          void *userdata) {
        Fixture *f = userdata;

        f->peer = *peer;
        (void) api_call_reply(call, NULL, false);
}

static void list_sessions(ApiCall *call, const Peer *peer, json_object *parameters,
                          void *userdata) {
        json_object *o = json_object_new_object();

        json_object_object_add(o, "sessions", json_object_new_array());
        (void) api_call_reply(call, o, false);
}

static void keep(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Fixture *f = userdata;

        assert_true(f->n_calls < FIXTURE_CALLS_MAX);
        f->calls[f->n_calls++] = api_call_ref(call);
}

static void drop(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
}

static void mark(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Fixture *f = userdata;

        f->n_marks++;
        (void) api_call_reply(call, NULL, false);
}

static void blame(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Fixture *f = userdata;
        char *text = malloc(f->blame_size + 1);
        json_object *o = json_object_new_object();

        assert_non_null(text);
        memset(text, 'x', f->blame_size);
        json_object_object_add(o, "x", json_object_new_string_len(text, (int) f->blame_size));
        (void) api_call_reply(call, o, false);
        free(text);
}

static const ApiMethod methods[] = {
        {"GetStatus", reply_at_once, false},
        {"ListSessions", list_sessions, false},
        {"StartSession", keep, false},
        {"GetOperations", keep, true},
        {"KillSession", drop, false},
        {"MarkSession", mark, false},
        {"Blame", blame, false},
};

int fixture_setup(void **state) {
        Fixture *f = calloc(1, sizeof *f);

        *state = f;
        if (!f)
                return -1;
        strcpy(f->folder, "/tmp/test-api-XXXXXX");
        if (!mkdtemp(f->folder) || sd_event_new(&f->event) < 0)
                return -1;
        (void) snprintf(f->path, sizeof f->path, "%s/run/socket", f->folder);
        return api_server_new(f->event, f->path, -1, NULL, methods, ELEMENTSOF(methods), f,
                              &f->server);
}

int fixture_teardown(void **state) {
        Fixture *f = *state;
        char command[64];
        int r;

        for (size_t i = 0; i < f->n_calls; i++)
                (void) api_call_unref(f->calls[i]);
        (void) api_server_free(f->server);
        sd_event_unref(f->event);
        (void) snprintf(command, sizeof command, "rm -r %s", f->folder);
        r = system(command);
        free(f);
        return r;
}

void fixture_settle(Fixture *f) {
        int r;

        do {
                r = sd_event_run(f->event, 0);
        } while (r > 0);
        assert_int_equal(r, 0);
}

void fixture_wait(Fixture *f) {
        int r = sd_event_run(f->event, PATIENCE_USEC);

        assert_true(r >= 0);
        if (r == 0)
                fail_msg("nothing happens any more");
}

int client_connect(Fixture *f) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        assert_true(fd >= 0);
        strcpy(address.sun_path, f->path);
        assert_int_equal(connect(fd, (struct sockaddr *) &address, sizeof address), 0);
        return fd;
}

void client_write(Fixture *f, int fd, const void *data, size_t size) {
        const char *p = data;

        while (size > 0) {
                ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

                if (n < 0 && errno == EAGAIN) {
                        fixture_wait(f);
                        continue;
                }
                assert_true(n > 0);
                p += n;
                size -= (size_t) n;
        }
}

void client_send(Fixture *f, int fd, const char *text) {
        client_write(f, fd, text, strlen(text) + 1);
}

char *client_receive(Fixture *f, int fd) {
        size_t size = 0, allocated = 4096;
        char *text = malloc(allocated);

        assert_non_null(text);
        for (;;) {
                ssize_t n = recv(fd, text + size, 1, 0);

                if (n < 0 && errno == EAGAIN) {
                        fixture_wait(f);
                        continue;
                }
                if (n <= 0) {
                        assert_true(n == 0 || errno == ECONNRESET);
                        assert_int_equal(size, 0);
                        free(text);
                        return NULL;
                }
                if (text[size++] == 0)
                        return text;
                if (size == allocated) {
                        allocated *= 2;
                        text = realloc(text, allocated);
                        assert_non_null(text);
                }
        }
}

void client_expect(Fixture *f, int fd, const char *text) {
        char *got = client_receive(f, fd);

        if (!got)
                fail_msg("the connection has ended, instead of %s", text);
        assert_string_equal(got, text);
        free(got);
}

void client_expect_end(Fixture *f, int fd) {
        char *got = client_receive(f, fd);

        if (got)
                fail_msg("not the end but %s", got);
}
