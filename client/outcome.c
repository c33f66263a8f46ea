/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "client/outcome.h"
#include "client/report_html.h"
#include "client/report_json.h"
#include "client/report_junit.h"

int fail_on_from_string(const char *s) {
        static const char *const table[_FAIL_ON_MAX] = {
                [FAIL_ON_VIOLATION] = "violation",
                [FAIL_ON_INCOMPLETE] = "incomplete",
                [FAIL_ON_NEVER] = "never",
        };

        for (int i = 0; i < _FAIL_ON_MAX; i++)
                if (str_equal(table[i], s))
                        return i;
        return -EINVAL;
}

bool fail_on_is_met(FailOn fail_on, const SessionView *s) {
        switch (fail_on) {
        case FAIL_ON_VIOLATION:
                return s->verdict == VERDICT_DIRTY;
        case FAIL_ON_INCOMPLETE:
                return s->verdict != VERDICT_CLEAN || !s->complete;
        case FAIL_ON_NEVER:
        case _FAIL_ON_MAX:
                break;
        }
        return false;
}

int fail_on_parse(const Options *options, FailOn otherwise, FailOn *ret) {
        const char *word = options->value[OPTION_FAIL_ON];
        int r = word ? fail_on_from_string(word) : (int) otherwise;

        if (r < 0) {
                complain("--fail-on takes violation, incomplete or never, not '%s'", word);
                return STATUS_USAGE;
        }
        *ret = (FailOn) r;
        return STATUS_DONE;
}

static int open_file(const char *name, FILE **ret) {
        int fd;

        if (!name)
                return STATUS_DONE;
        fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (fd >= 0 && fd <= STDERR_FILENO) {
                int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

                safe_close(fd);
                fd = moved;
        }
        *ret = fd >= 0 ? fdopen(fd, "we") : NULL;
        if (*ret)
                return STATUS_DONE;
        complain("cannot write '%s': %s", name, strerror(errno));
        safe_close(fd);
        return STATUS_NO;
}

static int open_html(ReportFiles *files) {
        int r;

        if (!files->html_name || str_equal(files->html_name, "-"))
                return STATUS_DONE;
        r = atomic_file_open(files->html_name, 0600, &files->html);
        if (r >= 0)
                return STATUS_DONE;
        complain("cannot write '%s': %s", files->html_name, strerror(-r));
        return STATUS_NO;
}

int report_files_open(const Options *options, bool stdout_is_free, ReportFiles *ret) {
        ReportFiles files = {
                .json_name = options->value[OPTION_JSON_FILE],
                .junit_name = options->value[OPTION_JUNIT],
                .html_name = options->value[OPTION_HTML],
        };
        int r;

        if (!stdout_is_free && str_equal(files.html_name, "-")) {
                complain(
                        "--html needs the name of a file here ('mountwatch report --html -' prints it)");
                return STATUS_USAGE;
        }
        r = open_file(files.json_name, &files.json);
        if (r == STATUS_DONE)
                r = open_file(files.junit_name, &files.junit);
        if (r == STATUS_DONE)
                r = open_html(&files);
        if (r != STATUS_DONE) {
                report_files_close(&files);
                return r;
        }
        *ret = files;
        return STATUS_DONE;
}

/* Closes: only then it is known whether everything was written. */
static int finish_file(FILE **f, const char *name, int r) {
        bool failed = ferror(*f);

        failed |= fclose(TAKE_PTR(*f)) != 0;
        if (r >= 0 && !failed)
                return STATUS_DONE;
        complain("cannot write '%s': %s", name, strerror(r < 0 ? -r : errno ? errno : EIO));
        return STATUS_NO;
}

static int write_html(ReportFiles *files, const ReportModel *m) {
        int r;

        if (!files->html.file) {
                if (report_html_write(stdout, m) < 0)
                        return complain_memory();
                return verb_flush();
        }
        r = report_html_write(files->html.file, m);
        r = r < 0 ? r : atomic_file_commit(&files->html);
        if (r >= 0)
                return STATUS_DONE;
        complain("cannot write '%s': %s", files->html_name, strerror(-r));
        return STATUS_NO;
}

int report_files_write(ReportFiles *files, ReportModel *m) {
        int status = STATUS_DONE;

        if (files->json)
                status = finish_file(&files->json, files->json_name,
                                     report_json_write(files->json, m));
        if (files->junit &&
            finish_file(&files->junit, files->junit_name, report_junit_write(files->junit, m)) !=
                    STATUS_DONE)
                status = STATUS_NO;
        if (files->html_name && write_html(files, m) != STATUS_DONE)
                status = STATUS_NO;
        return status;
}

void report_files_close(ReportFiles *files) {
        if (files->json)
                (void) fclose(files->json);
        if (files->junit)
                (void) fclose(files->junit);
        atomic_file_done(&files->html);
        *files = (ReportFiles){};
}

int outcome_print(FILE *f, const ReportModel *m, const ReportTextOptions *options) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        Terminal t;
        int r;

        terminal_init(&t, f);
        t.file = open_memstream(&text, &size);
        if (!t.file)
                return complain_memory();
        r = report_text_write(&t, m, options);
        if (fclose(t.file) != 0 || r < 0)
                return complain_memory();
        (void) fwrite(text, 1, size, f);
        return f == stdout ? verb_flush() : STATUS_DONE;
}
