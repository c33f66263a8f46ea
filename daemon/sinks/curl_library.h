/* SPDX-License-Identifier: MIT */
/*
 * libcurl, loaded by who makes the first post. With the libraries that it brings along it takes as much memory as all the rest of
 * the daemon, and most machines have no webhook.
 */
#ifndef MOUNTWATCH_SINKS_CURL_LIBRARY_H
#define MOUNTWATCH_SINKS_CURL_LIBRARY_H

#include <curl/curl.h>

#define CURL_FUNCTIONS(F)      \
        F(global_init)         \
        F(easy_init)           \
        F(easy_setopt)         \
        F(easy_getinfo)        \
        F(easy_strerror)       \
        F(easy_cleanup)        \
        F(slist_append)        \
        F(slist_free_all)      \
        F(multi_init)          \
        F(multi_setopt)        \
        F(multi_assign)        \
        F(multi_add_handle)    \
        F(multi_remove_handle) \
        F(multi_socket_action) \
        F(multi_info_read)     \
        F(multi_cleanup)

/* Its functions without the prefix curl_. */
typedef struct CurlLibrary {
#define F(name) typeof(curl_##name) *name;
        CURL_FUNCTIONS(F)
#undef F
} CurlLibrary;

/* Loads it for the rest of the process, and sets it up. -ELIBACC: not installed, or older than CURLOPT_QUICK_EXIT (7.87), without which
 * a hanging look-up of a name stops the caller. */
int curl_library_load(CurlLibrary *ret);

#endif
