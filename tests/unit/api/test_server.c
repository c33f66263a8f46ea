/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/version.h"
#include "daemon/api/idl.h"
#include "tests/unit/api/fixture.h"

#define STATUS "{\"method\":\"io.mountwatch.GetStatus\"}"
#define NOBODY 65534

/* ---- org.varlink.service ---- */

static void get_info_names_product_and_interfaces(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, "{\"method\":\"org.varlink.service.GetInfo\"}");
        client_expect(f, fd,
                      "{\"parameters\":{\"vendor\":\"mountwatch\",\"product\":\"mountwatch\","
                      "\"version\":\"" MOUNTWATCH_VERSION "\",\"url\":\"\","
                      "\"interfaces\":[\"org.varlink.service\",\"io.mountwatch\"]}}");
        close(fd);
}

static char *describe(Fixture *f, const char *interface) {
        int fd = client_connect(f);
        json_object *o;
        char call[256], *reply, *text;

        (void) snprintf(call, sizeof call,
                        "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
                        "\"parameters\":{\"interface\":\"%s\"}}",
                        interface);
        client_send(f, fd, call);
        reply = client_receive(f, fd);
        assert_non_null(reply);
        o = json_tokener_parse(reply);
        assert_non_null(o);
        text = strdup(json_object_get_string(
                json_object_object_get(json_object_object_get(o, "parameters"), "description")));
        json_object_put(o);
        free(reply);
        close(fd);
        return text;
}

static void the_description_is_the_file(void **state) {
        Fixture *f = *state;
        FILE *file = fopen("common/io.mountwatch.varlink", "re");
        static char want[64 * 1024];
        char *text;
        size_t n;

        if (!file) {
                print_message("skip: not run in the root of the project\n");
                skip();
        }
        n = fread(want, 1, sizeof want - 1, file);
        assert_true(n > 0 && n < sizeof want - 1);
        (void) fclose(file);
        text = describe(f, "io.mountwatch");
        assert_string_equal(text, want);
        free(text);
}

static void the_service_describes_itself(void **state) {
        static const char *const methods[] = {"GetInfo", "GetInterfaceDescription"};
        Fixture *f = *state;
        Idl *idl = NULL;
        char *text = describe(f, "org.varlink.service");

        assert_int_equal(idl_parse(text, &idl, NULL), 0);
        assert_string_equal(idl_interface(idl), "org.varlink.service");
        for (size_t i = 0; i < ELEMENTSOF(methods); i++)
                assert_non_null(idl_method_input(idl, methods[i]));
        (void) idl_free(idl);
        free(text);
}

static void an_unknown_interface_is_not_described(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd,
                    "{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":"
                    "{\"interface\":\"io.nonsense\"}}");
        client_expect(f, fd,
                      "{\"error\":\"org.varlink.service.InterfaceNotFound\",\"parameters\":"
                      "{\"interface\":\"io.nonsense\"}}");
        client_send(f, fd, "{\"method\":\"org.varlink.service.GetInterfaceDescription\"}");
        client_expect(f, fd,
                      "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":"
                      "{\"parameter\":\"interface\"}}");
        close(fd);
}

/* ---- the socket file ---- */

static int new_server(Fixture *f, const char *path, ApiServer **ret) {
        return api_server_new(f->event, path, -1, NULL, NULL, 0, NULL, ret);
}

static void everybody_may_connect_and_the_file_goes_with_the_server(void **state) {
        Fixture *f = *state;
        struct stat st;

        assert_int_equal(lstat(f->path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0666);
        f->server = api_server_free(f->server);
        assert_int_equal(lstat(f->path, &st), -1);
}

static void a_live_socket_is_left_alone(void **state) {
        Fixture *f = *state;
        ApiServer *second = NULL;
        int fd;

        assert_int_equal(new_server(f, f->path, &second), -EADDRINUSE);
        assert_null(second);
        fd = client_connect(f);
        client_send(f, fd, STATUS);
        client_expect(f, fd, "{}");
        close(fd);
}

static void make_stale(const char *path) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        strcpy(address.sun_path, path);
        assert_int_equal(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
        close(fd);
}

static void a_stale_socket_is_replaced(void **state) {
        Fixture *f = *state;
        ApiServer *second = NULL;
        char path[64];
        struct stat st;

        (void) snprintf(path, sizeof path, "%s/stale", f->folder);
        make_stale(path);
        assert_int_equal(new_server(f, path, &second), 0);
        /* what is there when the server goes is not its own any more */
        assert_int_equal(unlink(path), 0);
        make_stale(path);
        (void) api_server_free(second);
        assert_int_equal(lstat(path, &st), 0);
}

static void what_is_no_socket_is_left_alone(void **state) {
        Fixture *f = *state;
        ApiServer *second = NULL;
        char path[160];
        int fd;

        (void) snprintf(path, sizeof path, "%s/file", f->folder);
        fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(new_server(f, path, &second), -EEXIST);
        assert_int_equal(access(path, F_OK), 0);
        memset(path + strlen(path), 'x', 100);
        path[strlen(f->folder) + 105] = 0;
        assert_int_equal(new_server(f, path, &second), -ENAMETOOLONG);
        (void) snprintf(path, sizeof path, "%s/no/folder/socket", f->folder);
        assert_int_equal(new_server(f, path, &second), -ENOENT);
}

static void a_socket_that_was_handed_over_is_used(void **state) {
        Fixture *f = *state;
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0), client;

        f->server = api_server_free(f->server);
        strcpy(address.sun_path, f->path);
        assert_int_equal(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
        assert_int_equal(listen(fd, 5), 0);
        assert_int_equal(api_server_new(f->event, NULL, fd, NULL, NULL, 0, NULL, &f->server), 0);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        client = client_connect(f);
        client_send(f, client, "{\"method\":\"io.mountwatch.Nonsense\"}");
        client_expect(f, client,
                      "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":"
                      "{\"method\":\"io.mountwatch.Nonsense\"}}");
        close(client);
        f->server = api_server_free(f->server);
        assert_int_equal(access(f->path, F_OK), 0); /* systemd's */
}

static void run_nothing(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
}

static void a_method_that_is_not_described_is_a_mistake(void **state) {
        static const ApiMethod methods[] = {{"Nonsense", run_nothing, false}};
        Fixture *f = *state;
        ApiServer *second = NULL;
        char path[64];

        (void) snprintf(path, sizeof path, "%s/second", f->folder);
        assert_int_equal(api_server_new(f->event, path, -1, NULL, methods, 1, NULL, &second),
                         -EINVAL);
}

/* ---- peers and limits ---- */

/* SO_PEERCRED and SO_PEERGROUPS are the effective ids at connect(). */
static int connect_as(Fixture *f, uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups) {
        int fd;

        assert_int_equal(setgroups(n_groups, groups), 0);
        assert_int_equal(setegid(gid), 0);
        assert_int_equal(seteuid(uid), 0);
        fd = client_connect(f);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(setegid(0), 0);
        assert_int_equal(setgroups(0, NULL), 0);
        return fd;
}

static void needs_root(Fixture *f) {
        if (geteuid() != 0) {
                print_message("skip: only root can be several users\n");
                skip();
        }
        assert_int_equal(chmod(f->folder, 0755), 0);
}

static Peer peer_of(Fixture *f, int fd) {
        client_send(f, fd, STATUS);
        client_expect(f, fd, "{}");
        return f->peer;
}

static void the_kernel_tells_who_is_privileged(void **state) {
        static const gid_t many[] = {9, 8, 7, 6, 12345, 5, 4, 3}, others[] = {9, 8};
        static const struct {
                uid_t uid;
                gid_t gid;
                const gid_t *groups;
                size_t n_groups;
                bool privileged;
        } cases[] = {
                {0, 0, NULL, 0, true},
                {NOBODY, NOBODY, NULL, 0, false},
                {NOBODY, NOBODY, others, ELEMENTSOF(others), false},
                {NOBODY, 0, NULL, 0, false},
        };
        Fixture *f = *state;
        struct group *group = getgrgid(12);
        int fd;

        needs_root(f);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Peer peer;

                fd = connect_as(f, cases[i].uid, cases[i].gid, cases[i].groups, cases[i].n_groups);
                peer = peer_of(f, fd);
                assert_int_equal(peer.uid, cases[i].uid);
                assert_int_equal(peer.gid, cases[i].gid);
                assert_int_equal(peer.pid, getpid());
                assert_int_equal(peer.privileged, cases[i].privileged);
                close(fd);
        }
        assert_int_equal(api_server_set_group(f->server, "no-such-group"), -ESRCH);
        if (!group) {
                print_message("skip: no group has the id 12 here\n");
                skip();
        }
        /* as a supplementary group, as the own one, and not after it has been taken away */
        fd = connect_as(f, NOBODY, NOBODY, (gid_t[]){3, 4, 12, 5}, 4);
        assert_false(peer_of(f, fd).privileged);
        assert_int_equal(api_server_set_group(f->server, group->gr_name), 0);
        assert_true(peer_of(f, fd).privileged);
        close(fd);
        fd = connect_as(f, NOBODY, 12, NULL, 0);
        assert_true(peer_of(f, fd).privileged);
        assert_int_equal(api_server_set_group(f->server, NULL), 0);
        assert_false(peer_of(f, fd).privileged);
        close(fd);
        fd = connect_as(f, NOBODY, NOBODY, many, ELEMENTSOF(many));
        assert_false(peer_of(f, fd).privileged);
        close(fd);
}

static void a_user_has_a_limit_and_root_has_none(void **state) {
        Fixture *f = *state;
        int fds[API_CONNECTIONS_PER_UID_MAX], fd;

        needs_root(f);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++) {
                fds[i] = connect_as(f, NOBODY, NOBODY, NULL, 0);
                fixture_settle(f);
        }
        fd = connect_as(f, NOBODY, NOBODY, NULL, 0);
        client_expect(f, fd,
                      "{\"error\":\"io.mountwatch.LimitReached\",\"parameters\":{\"limit\":"
                      "\"connections of one user\",\"max\":64}}");
        client_expect_end(f, fd);
        close(fd);
        fd = connect_as(f, NOBODY - 1, NOBODY, NULL, 0);
        (void) peer_of(f, fd);
        close(fd);
        fd = client_connect(f);
        (void) peer_of(f, fd);
        close(fd);
        (void) peer_of(f, fds[0]);
        close(fds[1]);
        fixture_settle(f);
        fd = connect_as(f, NOBODY, NOBODY, NULL, 0);
        (void) peer_of(f, fd);
        close(fd);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                if (i != 1)
                        close(fds[i]);
}

static void the_last_connections_are_roots(void **state) {
        Fixture *f = *state;
        int fds[API_CONNECTIONS_MAX], fd;

        needs_root(f);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++) {
                uid_t uid = i < ELEMENTSOF(fds) - 16 ? (uid_t) (1000 + i % 10) : 0;

                fds[i] = connect_as(f, uid, NOBODY, NULL, 0);
                fixture_settle(f);
                if (i == ELEMENTSOF(fds) - 17) {
                        fd = connect_as(f, NOBODY, NOBODY, NULL, 0);
                        client_expect(f, fd,
                                      "{\"error\":\"io.mountwatch.LimitReached\",\"parameters\":"
                                      "{\"limit\":\"connections\",\"max\":256}}");
                        close(fd);
                }
        }
        (void) peer_of(f, fds[ELEMENTSOF(fds) - 1]);
        fd = client_connect(f);
        client_expect(f, fd,
                      "{\"error\":\"io.mountwatch.LimitReached\",\"parameters\":"
                      "{\"limit\":\"connections\",\"max\":256}}");
        close(fd);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                close(fds[i]);
}

/* accept() fails with EMFILE, and the connection stays in the queue: a loop that waits for it would spin. */
static void without_a_free_descriptor_a_connection_is_turned_away(void **state) {
        Fixture *f = *state;
        struct rlimit before, limit;
        int fd = client_connect(f), next = dup(fd), other;

        (void) peer_of(f, fd);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
        /* the next free one is the client's */
        assert_true(next >= 0);
        close(next);
        limit = (struct rlimit){.rlim_cur = (rlim_t) next + 1, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        other = client_connect(f);
        fixture_settle(f);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        {
                char *text = client_receive(f, other);

                assert_non_null(text);
                assert_non_null(strstr(text, "\"open files\""));
                free(text);
        }
        client_expect_end(f, other);
        close(other);
        other = client_connect(f);
        (void) peer_of(f, other);
        (void) peer_of(f, fd);
        close(other);
        close(fd);
}

int main(void) {
#define test(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                test(get_info_names_product_and_interfaces),
                test(the_description_is_the_file),
                test(the_service_describes_itself),
                test(an_unknown_interface_is_not_described),
                test(everybody_may_connect_and_the_file_goes_with_the_server),
                test(a_live_socket_is_left_alone),
                test(a_stale_socket_is_replaced),
                test(what_is_no_socket_is_left_alone),
                test(a_socket_that_was_handed_over_is_used),
                test(a_method_that_is_not_described_is_a_mistake),
                test(the_kernel_tells_who_is_privileged),
                test(a_user_has_a_limit_and_root_has_none),
                test(the_last_connections_are_roots),
                test(without_a_free_descriptor_a_connection_is_turned_away),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
