/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define SONAME "libcurl.so.4"
#define VERSION_NEEDED 0x075700

/* A function pointer out of an object pointer: POSIX lets, ISO C does not. */
static int find(void *library, const char *name, void *ret_function) {
        void *symbol = dlsym(library, name);

        if (!symbol)
                return -ELIBACC;
        memcpy(ret_function, &symbol, sizeof symbol);
        return 0;
}

int curl_library_load(CurlLibrary *ret) {
        void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        typeof(curl_version_info) *version_info;
        CurlLibrary c;
        int r;

        if (!library)
                return -ELIBACC;
        r = find(library, "curl_version_info", &version_info);
        if (r >= 0 && version_info(CURLVERSION_NOW)->version_num < VERSION_NEEDED)
                r = -ELIBACC;
#define F(name) r = r < 0 ? r : find(library, "curl_" #name, &c.name);
        CURL_FUNCTIONS(F)
#undef F
        if (r >= 0 && c.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
                r = -EIO;
        /* stays all the same: RTLD_NODELETE */
        (void) dlclose(library);
        if (r >= 0)
                *ret = c;
        return r;
}
