/* SPDX-License-Identifier: MIT */
#include "daemon/secret_file.h"
#include "common/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

static int refuse(char **ret_reason, const char *format, ...) _printf_(2, 3);
static int refuse(char **ret_reason, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(ret_reason, format, ap);
        va_end(ap);
        if (r >= 0)
                return -EINVAL;
        *ret_reason = NULL;
        return -ENOMEM;
}

static int check(const char *path, const struct stat *st, char **ret_reason) {
        if (!S_ISREG(st->st_mode))
                return refuse(ret_reason, "'%.200s' is not a regular file", path);
        if (st->st_uid != 0 && st->st_uid != geteuid())
                return refuse(ret_reason, "'%.200s' must belong to root, not to uid %u", path,
                              (unsigned) st->st_uid);
        if (st->st_mode & (S_IRWXG | S_IRWXO))
                return refuse(ret_reason,
                              "'%.200s' is open to group or others (mode %04o): chmod 600 it", path,
                              (unsigned) (st->st_mode & 07777));
        if (st->st_size > SECRET_FILE_MAX)
                return refuse(ret_reason, "'%.200s' is larger than %d bytes", path,
                              SECRET_FILE_MAX);
        return 0;
}

static int read_all(int fd, char *data, size_t *ret_size) {
        size_t size = 0;
        ssize_t n;

        while (size < SECRET_FILE_MAX && (n = read(fd, data + size, SECRET_FILE_MAX - size)) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                size += (size_t) n;
        }
        *ret_size = size;
        return 0;
}

int secret_file_read(const char *path, char **ret, char **ret_reason) {
        /* opening a fifo would wait for a writer */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *data = NULL;
        struct stat st;
        size_t size = 0;
        int r;

        if (fd < 0 && errno == EACCES && geteuid() != 0)
                return -EACCES;
        if (fd < 0 || fstat(fd, &st) < 0)
                return refuse(ret_reason, "'%.200s' cannot be read: %s", path, strerror(errno));
        r = check(path, &st, ret_reason);
        if (r < 0)
                return r;
        data = calloc(1, SECRET_FILE_MAX + 1);
        if (!data)
                return -ENOMEM;
        r = read_all(fd, data, &size);
        if (r < 0)
                return refuse(ret_reason, "'%.200s' cannot be read: %s", path, strerror(-r));
        while (size > 0 && strchr(" \t\r\n", data[size - 1]))
                data[--size] = 0;
        if (size == 0 || strlen(data) != size)
                return refuse(ret_reason,
                              size == 0 ? "'%.200s' is empty" : "'%.200s' has a NUL in it", path);
        *ret = TAKE_PTR(data);
        return 0;
}
