/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "common/macro.h"
#include "daemon/kernel/textfile.h"

#define TEXTFILE_BLOCK (16 * 1024)

/* Fills buf as far as the file goes; seq files hand out less than asked for at a time. */
static int read_up_to(int fd, char *buf, size_t size, size_t *ret_n) {
        size_t n = 0;

        while (n < size) {
                ssize_t k = read(fd, buf + n, size - n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t) k;
        }
        *ret_n = n;
        return 0;
}

int textfile_read_at(int dirfd, const char *name, void *buf, size_t size, size_t *ret_n) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        return read_up_to(fd, buf, size, ret_n);
}

int textfile_read_all_at(int dirfd, const char *name, size_t max, char **ret, size_t *ret_n) {
        _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
        _cleanup_free_ char *buf = NULL;
        size_t n = 0, room = 0;

        if (fd < 0)
                return -errno;

        for (;;) {
                size_t k = 0;
                char *grown;
                int r;

                room = room ? 2 * room : TEXTFILE_BLOCK;
                grown = realloc(buf, room + 1);
                if (!grown)
                        return -ENOMEM;
                buf = grown;
                r = read_up_to(fd, buf + n, room - n, &k);
                if (r < 0)
                        return r;
                n += k;
                if (n > max)
                        return -E2BIG;
                if (n < room)
                        break;
        }
        buf[n] = '\0';
        *ret = TAKE_PTR(buf);
        *ret_n = n;
        return 0;
}

int textfile_write_at(int dirfd, const char *name, const char *text) {
        _cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);
        ssize_t k;

        if (fd < 0)
                return -errno;
        do
                k = write(fd, text, strlen(text));
        while (k < 0 && errno == EINTR);
        return k < 0 ? -errno : 0;
}
