/* SPDX-License-Identifier: MIT */
/*
 * Owns the multi handle, its sockets and its timer in the loop. libcurl says which sockets it waits for and when it wants to be called;
 * finished posts are taken out after each call into it.
 */
#include "daemon/sinks/http_client.h"
#include "daemon/sinks/curl_library.h"
#include "daemon/sinks/http_reply.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <utlist.h>

#define CONNECT_TIMEOUT_MSEC 10000L
#define REDIRECTS_MAX 5L

typedef struct Socket {
        HttpClient *client;
        curl_socket_t fd;
        sd_event_source *source;
} Socket;

struct HttpPost {
        HttpClient *client;
        CURL *easy;
        struct curl_slist *headers;
        char error[CURL_ERROR_SIZE];
        ReplyText text;
        http_done_t done;
        void *userdata;
        HttpPost *prev, *next;
};

struct HttpClient {
        sd_event *event;
        CurlLibrary curl;
        CURLM *multi;
        sd_event_source *timer;
        HttpPost *posts; /* list */
};

/* ---- posts ---- */

static HttpPost *post_free(HttpPost *p) {
        if (!p)
                return NULL;
        if (p->easy) {
                (void) p->client->curl.multi_remove_handle(p->client->multi, p->easy);
                p->client->curl.easy_cleanup(p->easy);
        }
        p->client->curl.slist_free_all(p->headers);
        reply_text_done(&p->text);
        free(p);
        return NULL;
}
DEFINE_CLEANUP(HttpPost *, post_free)

void http_post_cancel(HttpPost *p) {
        if (!p)
                return;
        DL_DELETE(p->client->posts, p);
        (void) post_free(p);
}

static void finish(HttpPost *p, CURLcode code) {
        HttpReply reply = {.headers = p->text.headers, .body = p->text.body};
        curl_off_t took = 0;
        long status = 0;

        (void) p->client->curl.easy_getinfo(p->easy, CURLINFO_TOTAL_TIME_T, &took);
        (void) p->client->curl.easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
        /* an answer that is longer than we read has been an answer */
        if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && p->text.full))
                reply.status = (int) status;
        else
                reply.error = *p->error ? p->error : p->client->curl.easy_strerror(code);
        reply.took = (usec_t) took;
        reply.retry_after = reply_text_retry_after(&p->text);
        DL_DELETE(p->client->posts, p);
        p->done(&reply, p->userdata);
        (void) post_free(p);
}

static void take_finished(HttpClient *c) {
        CURLMsg *message;
        int left;

        while ((message = c->curl.multi_info_read(c->multi, &left))) {
                char *p = NULL;

                if (message->msg != CURLMSG_DONE)
                        continue;
                (void) c->curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &p);
                finish((HttpPost *) (void *) p, message->data.result);
        }
}

/* ---- libcurl in the loop ---- */

static int on_socket(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Socket *s = userdata;
        HttpClient *c = s->client;
        int flags = 0, running;

        flags |= revents & EPOLLIN ? CURL_CSELECT_IN : 0;
        flags |= revents & EPOLLOUT ? CURL_CSELECT_OUT : 0;
        flags |= revents & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0;
        (void) c->curl.multi_socket_action(c->multi, fd, flags, &running);
        take_finished(c);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        HttpClient *c = userdata;
        int running;

        (void) c->curl.multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        take_finished(c);
        return 0;
}

static void socket_free(Socket *s) {
        if (!s)
                return;
        (void) sd_event_source_disable_unref(s->source);
        free(s);
}

static int socket_new(HttpClient *c, curl_socket_t fd, uint32_t events) {
        Socket *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->client = c;
        s->fd = fd;
        r = sd_event_add_io(c->event, &s->source, fd, events, on_socket, s);
        if (r < 0 || c->curl.multi_assign(c->multi, fd, s) != CURLM_OK) {
                socket_free(s);
                return r < 0 ? r : -EIO;
        }
        return 0;
}

/* -1 makes every post fail, rather than one wait without anybody looking. */
static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *userdata, void *socketp) {
        HttpClient *c = userdata;
        Socket *s = socketp;
        uint32_t events = 0;

        if (what == CURL_POLL_REMOVE) {
                (void) c->curl.multi_assign(c->multi, fd, NULL);
                socket_free(s);
                return 0;
        }
        events |= what == CURL_POLL_IN || what == CURL_POLL_INOUT ? EPOLLIN : 0;
        events |= what == CURL_POLL_OUT || what == CURL_POLL_INOUT ? EPOLLOUT : 0;
        if (s)
                return sd_event_source_set_io_events(s->source, events) < 0 ? -1 : 0;
        return socket_new(c, fd, events) < 0 ? -1 : 0;
}

static int timer_changed(CURLM *multi, long msec, void *userdata) {
        HttpClient *c = userdata;
        int r;

        if (msec < 0)
                return sd_event_source_set_enabled(c->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
        r = sd_event_source_set_time_relative(c->timer, (uint64_t) msec * 1000);
        if (r >= 0)
                r = sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
        return r < 0 ? -1 : 0;
}

int http_client_new(sd_event *event, HttpClient **ret) {
        _cleanup_(http_client_freep) HttpClient *c = calloc(1, sizeof *c);
        int r;

        if (!c)
                return -ENOMEM;
        r = curl_library_load(&c->curl);
        if (r < 0)
                return r;
        c->event = sd_event_ref(event);
        c->multi = c->curl.multi_init();
        if (!c->multi)
                return -ENOMEM;
        r = sd_event_add_time_relative(event, &c->timer, CLOCK_MONOTONIC, 0, 1, on_timer, c);
        if (r >= 0)
                r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
        if (r < 0)
                return r;
        if (c->curl.multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, socket_changed) != CURLM_OK ||
            c->curl.multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c) != CURLM_OK ||
            c->curl.multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, timer_changed) != CURLM_OK ||
            c->curl.multi_setopt(c->multi, CURLMOPT_TIMERDATA, c) != CURLM_OK)
                return -EIO;
        *ret = TAKE_PTR(c);
        return 0;
}

HttpClient *http_client_free(HttpClient *c) {
        HttpPost *p, *next;

        if (!c)
                return NULL;
        DL_FOREACH_SAFE (c->posts, p, next)
                http_post_cancel(p);
        /* tells of every socket that it removes, through socket_changed() */
        if (c->multi)
                (void) c->curl.multi_cleanup(c->multi);
        (void) sd_event_source_disable_unref(c->timer);
        (void) sd_event_unref(c->event);
        free(c);
        return NULL;
}

/* ---- one post ---- */

static int add_headers(HttpPost *p, char *const *headers) {
        for (size_t i = 0; headers && headers[i]; i++) {
                struct curl_slist *longer = p->client->curl.slist_append(p->headers, headers[i]);

                if (!longer)
                        return -ENOMEM;
                p->headers = longer;
        }
        return 0;
}

#define set(p, option, value) ((p)->client->curl.easy_setopt((p)->easy, option, value) == CURLE_OK)

static bool set_limits(HttpPost *p, const HttpRequest *q) {
        const bool https = strncmp(q->url, "https:", 6) == 0;

        return set(p, CURLOPT_PROTOCOLS_STR, "http,https") &&
                set(p, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https") &&
                set(p, CURLOPT_FOLLOWLOCATION, q->follow_redirects ? 1L : 0L) &&
                set(p, CURLOPT_MAXREDIRS, REDIRECTS_MAX) &&
                set(p, CURLOPT_POSTREDIR, (long) CURL_REDIR_POST_ALL) &&
                set(p, CURLOPT_TIMEOUT_MS, (long) (q->timeout / 1000)) &&
                set(p, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MSEC) &&
                set(p, CURLOPT_NOSIGNAL, 1L) && set(p, CURLOPT_FORBID_REUSE, 1L) &&
                /* or the end of a post would wait for the thread that looks its name up */
                set(p, CURLOPT_QUICK_EXIT, 1L);
}

static bool set_tls(HttpPost *p, const HttpRequest *q) {
        return set(p, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2) &&
                set(p, CURLOPT_SSL_VERIFYPEER, 1L) && set(p, CURLOPT_SSL_VERIFYHOST, 2L) &&
                /* this file alone, not beside the folder of the system's */
                (!q->ca_file ||
                 (set(p, CURLOPT_CAINFO, q->ca_file) && set(p, CURLOPT_CAPATH, NULL))) &&
                (!q->cert_file || set(p, CURLOPT_SSLCERT, q->cert_file)) &&
                (!q->cert_file || set(p, CURLOPT_SSLKEY, q->key_file ? q->key_file : q->cert_file));
}

static bool set_request(HttpPost *p, const HttpRequest *q) {
        return set(p, CURLOPT_URL, q->url) && set(p, CURLOPT_HTTPHEADER, p->headers) &&
                set(p, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(q->body)) &&
                set(p, CURLOPT_COPYPOSTFIELDS, q->body) && set(p, CURLOPT_PRIVATE, p) &&
                set(p, CURLOPT_ERRORBUFFER, p->error) &&
                set(p, CURLOPT_WRITEFUNCTION, reply_text_take_body) &&
                set(p, CURLOPT_WRITEDATA, &p->text) &&
                set(p, CURLOPT_HEADERFUNCTION, reply_text_take_header) &&
                set(p, CURLOPT_HEADERDATA, &p->text);
}

int http_post(HttpClient *c, const HttpRequest *q, http_done_t done, void *userdata,
              HttpPost **ret) {
        _cleanup_(post_freep) HttpPost *p = calloc(1, sizeof *p);
        int r;

        if (!p)
                return -ENOMEM;
        p->client = c;
        p->done = done;
        p->userdata = userdata;
        p->easy = c->curl.easy_init();
        if (!p->easy)
                return -ENOMEM;
        r = reply_text_init(&p->text);
        r = r < 0 ? r : add_headers(p, q->headers);
        if (r < 0)
                return r;
        if (!set_request(p, q) || !set_limits(p, q) || !set_tls(p, q))
                return -EINVAL;
        if (c->curl.multi_add_handle(c->multi, p->easy) != CURLM_OK)
                return -EIO;
        DL_APPEND(c->posts, p);
        *ret = TAKE_PTR(p);
        return 0;
}
