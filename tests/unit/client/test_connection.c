/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "client/connection.h"
#include "client/refusal.h"
#include "common/json_member.h"
#include "fixture.h"

/* A daemon of one connection: takes one call, then sends these bytes and closes. */
typedef struct Daemon {
        char folder[32], socket[64];
        int fd;
        const char *reply;
        size_t size;
        char call[4096];
        pthread_t thread;
} Daemon;

static void *serve(void *userdata) {
        Daemon *d = userdata;
        size_t n = 0;
        int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC);

        while (n < sizeof(d->call) && (n == 0 || d->call[n - 1] != '\0')) {
                ssize_t r = read(fd, d->call + n, sizeof(d->call) - n);

                if (r <= 0)
                        break;
                n += (size_t) r;
        }
        /* byte by byte: a message need not come in one piece */
        for (size_t i = 0; i < d->size; i++)
                (void) !send(fd, d->reply + i, 1, MSG_NOSIGNAL);
        close(fd);
        return NULL;
}

static void bind_socket(Daemon *d) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        strcpy(d->folder, "/tmp/mountwatch-test-XXXXXX");
        assert_non_null(mkdtemp(d->folder));
        snprintf(d->socket, sizeof(d->socket), "%s/s", d->folder);
        strcpy(address.sun_path, d->socket);
        d->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(d->fd >= 0);
        assert_int_equal(bind(d->fd, (struct sockaddr *) &address, sizeof(address)), 0);
}

static void start(Daemon *d, const char *reply, size_t size) {
        *d = (Daemon){.reply = reply, .size = size};
        bind_socket(d);
        assert_int_equal(listen(d->fd, 4), 0);
        assert_int_equal(pthread_create(&d->thread, NULL, serve, d), 0);
}

static void clean_up(Daemon *d) {
        close(d->fd);
        unlink(d->socket);
        assert_int_equal(rmdir(d->folder), 0);
}

static void stop(Daemon *d) {
        assert_int_equal(pthread_join(d->thread, NULL), 0);
        clean_up(d);
}

#define START(d, text) start((d), text, sizeof(text) - 1)

static void a_call_gets_its_reply(void **state) {
        _cleanup_json_ json_object *reply = NULL;
        Connection *c = NULL;
        int64_t n = 0;
        Daemon d;

        START(&d, "{\"parameters\":{\"processes\":3}}\0");
        assert_int_equal(connection_new(d.socket, &c), 0);
        assert_int_equal(
                connection_call(c, "KillSession", json_tokener_parse("{\"id\":\"x\"}"), &reply), 0);
        assert_int_equal(json_get_int(reply, "processes", 0, 10, &n), 1);
        assert_int_equal(n, 3);
        connection_free(c);
        stop(&d);
        assert_string_equal(
                d.call, "{\"method\":\"io.mountwatch.KillSession\",\"parameters\":{\"id\":\"x\"}}");
}

static void a_reply_without_parameters_is_an_empty_object(void **state) {
        _cleanup_json_ json_object *reply = NULL;
        Connection *c = NULL;
        Daemon d;

        START(&d, "{}\0");
        assert_int_equal(connection_new(d.socket, &c), 0);
        assert_int_equal(connection_call(c, "MarkSession", NULL, &reply), 0);
        assert_int_equal(json_object_object_length(reply), 0);
        connection_free(c);
        stop(&d);
}

static void an_error_is_a_refusal(void **state) {
        json_object *reply = NULL, *parameters;
        _cleanup_free_ char *text = NULL;
        Connection *c = NULL;
        Daemon d;

        START(&d,
              "{\"error\":\"io.mountwatch.NotPermitted\",\"parameters\":{\"reason\":\"not yours\"}}\0");
        assert_int_equal(connection_new(d.socket, &c), 0);
        assert_int_equal(connection_call(c, "KillSession", NULL, &reply), CONNECTION_E_REFUSED);
        assert_null(reply);
        assert_string_equal(connection_refusal(c, &parameters), "io.mountwatch.NotPermitted");
        text = refusal_to_text("io.mountwatch.NotPermitted", parameters);
        assert_string_equal(text, "not permitted: not yours");
        connection_free(c);
        stop(&d);
}

static void a_stream_ends_with_the_last_reply(void **state) {
        json_object *reply;
        Connection *c = NULL;
        bool continues = false;
        Daemon d;

        START(&d,
              "{\"parameters\":{},\"continues\":true}\0{\"parameters\":{},\"continues\":true}\0{}\0");
        assert_int_equal(connection_new(d.socket, &c), 0);
        assert_int_equal(connection_call_more(c, "GetOperations", NULL, true), 0);
        for (int i = 0; i < 3; i++) {
                assert_int_equal(connection_next(c, &reply, &continues), 0);
                assert_int_equal(continues, i < 2);
                json_object_put(reply);
        }
        assert_int_equal(connection_next(c, &reply, &continues), -ECONNRESET);
        connection_free(c);
        stop(&d);
        assert_string_equal(d.call, "{\"method\":\"io.mountwatch.GetOperations\",\"more\":true}");
}

static void what_is_no_answer_is_told_apart(void **state) {
        static const struct {
                const char *reply;
                size_t size;
                int error;
        } cases[] = {
                {"", 0, -ECONNRESET},
                {"{\"parameters\"", 13, -ECONNRESET},
                {"hello\0", 6, -EBADMSG},
                {"{\"continues\":true}\0", 19, -EBADMSG}, /* nobody asked for more */
                {"[1]\0", 4, -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                json_object *reply = NULL;
                Connection *c = NULL;
                Daemon d;

                start(&d, cases[i].reply, cases[i].size);
                assert_int_equal(connection_new(d.socket, &c), 0);
                assert_int_equal(connection_call(c, "GetStatus", NULL, &reply), cases[i].error);
                assert_null(reply);
                connection_free(c);
                stop(&d);
        }
}

static void an_absent_daemon_is_absent_in_its_own_way(void **state) {
        char too_long[200];
        Connection *c = NULL;
        Daemon d = {};

        assert_int_equal(connection_new("/nonexistent/socket", &c), -ENOENT);
        memset(too_long, 'a', sizeof(too_long) - 1);
        too_long[sizeof(too_long) - 1] = '\0';
        assert_int_equal(connection_new(too_long, &c), -ENAMETOOLONG);
        bind_socket(&d); /* nobody listens */
        assert_int_equal(connection_new(d.socket, &c), -ECONNREFUSED);
        clean_up(&d);
        assert_null(c);
}

static void each_absence_has_a_sentence_with_a_next_step(void **state) {
        static const struct {
                int error;
                const char *says, *next;
        } cases[] = {
                {-ENOENT, "there is no socket '/s'", "systemctl start mountwatch"},
                {-ECONNREFUSED, "nobody listens on '/s'", "systemctl status mountwatch"},
                {-EACCES, "no permission to use '/s'", "ls -ld"},
                {-ENAMETOOLONG, "'/s' cannot be the daemon's socket", "--socket"},
                {-EBADMSG, "does not speak mountwatch's protocol", "mountwatch version"},
                {-ECONNRESET, "closed the connection", "journalctl"},
                {-ETIMEDOUT, "does not answer", "systemctl status"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = connection_explain("/s", cases[i].error);

                assert_non_null(strstr(text, cases[i].says));
                assert_non_null(strstr(text, cases[i].next));
        }
}

static void each_refusal_has_a_sentence(void **state) {
        static const struct {
                const char *error, *parameters, *text;
        } cases[] = {
                {"io.mountwatch.NoSuchSession", "{\"id\":\"a\\nb\"}",
                 "there is no session 'a\\x0ab' that you may see ('mountwatch session list --all' shows them)"},
                {"io.mountwatch.NoSuchProcess", "{\"pid\":42}", "there is no process 42"},
                {"io.mountwatch.LimitReached", "{\"limit\":\"sessions\",\"max\":64}",
                 "limit reached: no more than 64 sessions"},
                {"io.mountwatch.ConfigInvalid", "{\"file\":\"/a\",\"line\":3,\"reason\":\"bad\"}",
                 "/a:3: bad (the running configuration stays)"},
                {"io.mountwatch.NotPermitted", NULL, "not permitted: ?"},
                {"org.varlink.service.MethodNotFound", "{\"method\":\"io.mountwatch.X\"}",
                 "the daemon does not know 'io.mountwatch.X': it is of another version than this program"},
                {"com.example.Odd", NULL, "the daemon refused: com.example.Odd"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_json_ json_object *parameters =
                        cases[i].parameters ? json_tokener_parse(cases[i].parameters) : NULL;
                _cleanup_free_ char *text = refusal_to_text(cases[i].error, parameters);

                assert_string_equal(text, cases[i].text);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_call_gets_its_reply),
                cmocka_unit_test(a_reply_without_parameters_is_an_empty_object),
                cmocka_unit_test(an_error_is_a_refusal),
                cmocka_unit_test(a_stream_ends_with_the_last_reply),
                cmocka_unit_test(what_is_no_answer_is_told_apart),
                cmocka_unit_test(an_absent_daemon_is_absent_in_its_own_way),
                cmocka_unit_test(each_absence_has_a_sentence_with_a_next_step),
                cmocka_unit_test(each_refusal_has_a_sentence),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
