/* SPDX-License-Identifier: MIT */
#include "daemon/store/copy.h"

#include <endian.h>
#include <errno.h>
#include <openssl/evp.h>

#define BLOCK 65536

static void md_freep(EVP_MD_CTX **c) {
        EVP_MD_CTX_free(*c);
}

/* Fills the block as far as the file goes. */
static ssize_t read_block(int fd, char *block, int64_t at) {
        size_t n = 0;

        while (n < BLOCK) {
                ssize_t got = pread(fd, block + n, BLOCK - n, at + (int64_t) n);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0)
                        break;
                n += (size_t) got;
        }
        return (ssize_t) n;
}

static bool is_zero(const char *p, size_t n) {
        return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static int add_number(EVP_MD_CTX *c, int64_t n) {
        uint64_t le = htole64((uint64_t) n);

        return EVP_DigestUpdate(c, &le, sizeof le) == 1 ? 0 : -ENOMEM;
}

/* The start of the block with the next data at or after `at`; the size when there is none. Where the filesystem knows no holes, all
 * is data. */
static int64_t next_data(int fd, int64_t at, int64_t size) {
        int64_t data = lseek(fd, at, SEEK_DATA);

        if (data < 0)
                return errno == ENXIO ? size : at;
        return MAX(at, data - data % BLOCK);
}

static int add_blocks(EVP_MD_CTX *c, int fd, int64_t size, CopyCancel cancel) {
        _cleanup_free_ char *block = malloc(BLOCK);
        ssize_t n;
        int r = 0;

        if (!block)
                return -ENOMEM;
        for (int64_t at = next_data(fd, 0, size); at < size; at = next_data(fd, at + BLOCK, size)) {
                if (cancel && atomic_load(cancel))
                        return -ECANCELED;
                n = read_block(fd, block, at);
                if (n < 0)
                        return (int) n;
                if (is_zero(block, (size_t) n))
                        continue;
                r = add_number(c, at);
                if (r == 0 && EVP_DigestUpdate(c, block, (size_t) n) != 1)
                        r = -ENOMEM;
                if (r < 0)
                        return r;
        }
        return 0;
}

int copy_hash(int fd, CopyCancel cancel, uint8_t ret[static COPY_HASH_SIZE]) {
        _cleanup_(md_freep) EVP_MD_CTX *c = EVP_MD_CTX_new();
        struct stat st;
        int r;

        if (!c || EVP_DigestInit_ex(c, EVP_sha256(), NULL) != 1)
                return -ENOMEM;
        if (fstat(fd, &st) < 0)
                return -errno;
        r = add_blocks(c, fd, st.st_size, cancel);
        if (r >= 0)
                r = add_number(c, st.st_size);
        if (r < 0)
                return r;
        return EVP_DigestFinal_ex(c, ret, NULL) == 1 ? 0 : -ENOMEM;
}
