/* SPDX-License-Identifier: MIT */
/*
 * Feeds files to a fuzz target and prints a TAP line for each, so that a corpus is a test without libFuzzer. A finding
 * aborts the program; the runner counts that as a failure, and the name printed last is the input.
 *
 *   replay_x [FILE|FOLDER…]    default: the target's own corpus, tests/fuzz/corpus/x
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
        FILE *f = fopen(path, "re");
        uint8_t *data = NULL;
        size_t size = 0, n;
        struct stat st;

        if (!f || fstat(fileno(f), &st) < 0 || !(data = malloc((size_t) st.st_size + 1))) {
                printf("not ok - %s: %s\n", path, strerror(errno));
                if (f)
                        (void) fclose(f);
                return 1;
        }
        while (size < (size_t) st.st_size &&
               (n = fread(data + size, 1, (size_t) st.st_size - size, f)) > 0)
                size += n;
        (void) fclose(f);
        /* exactly as large as the input, so that a byte too many is found */
        if (size > 0)
                data = realloc(data, size) ?: data;
        fprintf(stderr, "# %s\n", path);
        (void) LLVMFuzzerTestOneInput(data, size);
        free(data);
        printf("ok - %s\n", path);
        return 0;
}

static int replay(const char *path) {
        struct dirent **entries = NULL;
        struct stat st;
        int n, bad = 0;

        if (stat(path, &st) < 0) {
                printf("not ok - %s: %s\n", path, strerror(errno));
                return 1;
        }
        if (!S_ISDIR(st.st_mode))
                return replay_file(path);
        n = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n; i++) {
                char *sub = NULL;

                if (entries[i]->d_name[0] != '.' &&
                    asprintf(&sub, "%s/%s", path, entries[i]->d_name) > 0)
                        bad |= replay(sub);
                free(sub);
                free(entries[i]);
        }
        free(entries);
        return bad;
}

int main(int argc, char **argv) {
        const char *name = strrchr(argv[0], '/');
        char *corpus = NULL;
        int bad = 0;

        (void) setvbuf(stdout, NULL, _IOLBF, 0);
        if (argc > 1) {
                for (int i = 1; i < argc; i++)
                        bad |= replay(argv[i]);
                return bad;
        }
        name = name ? name + 1 : argv[0];
        if (strncmp(name, "replay_", 7) == 0)
                name += 7;
        if (asprintf(&corpus, "tests/fuzz/corpus/%s", name) < 0)
                return 1;
        bad = replay(corpus);
        free(corpus);
        return bad;
}
