/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "common/strv.h"
#include "daemon/config_file.h"

int config_file_read(const char *path, char **ret, size_t *ret_size) {
        /* opening a fifo would wait for a writer */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *data = NULL;
        struct stat st;
        size_t size = 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
                *ret = NULL;
                *ret_size = 0;
                return 0;
        }
        if (!S_ISREG(st.st_mode))
                return S_ISDIR(st.st_mode) ? -EISDIR : -EBADF;
        data = malloc(CONFIG_FILE_MAX + 1);
        if (!data)
                return -ENOMEM;
        for (;;) {
                ssize_t n = read(fd, data + size, CONFIG_FILE_MAX + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        break;
                size += (size_t) n;
                if (size > CONFIG_FILE_MAX)
                        return -EFBIG;
        }
        *ret = TAKE_PTR(data);
        *ret_size = size;
        return 0;
}

static int is_drop_in(const struct dirent *d) {
        size_t n = strlen(d->d_name);

        return *d->d_name != '.' && n > 5 && str_equal(d->d_name + n - 5, ".conf");
}

/* alphasort() asks the locale */
static int by_bytes(const struct dirent **a, const struct dirent **b) {
        return strcmp((*a)->d_name, (*b)->d_name);
}

int config_file_list(const char *folder, char ***ret) {
        _cleanup_(strv_freep) char **paths = NULL;
        struct dirent **entries = NULL;
        int n = scandir(folder, &entries, is_drop_in, by_bytes), r = 0;

        if (n < 0)
                return -errno;
        for (int i = 0; i < n; i++) {
                char *path = NULL;

                if (r == 0 && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
                        path = NULL;
                        r = -ENOMEM;
                }
                if (path && !strv_take(&paths, path)) {
                        free(path);
                        r = -ENOMEM;
                }
                free(entries[i]);
        }
        free(entries);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(paths);
        return 0;
}
