/* SPDX-License-Identifier: MIT */
/* mountwatch report: of a session that has ended or still runs. */
#include "client/outcome.h"
#include "client/report_json.h"

static int print_json(ReportModel *m) {
        if (report_json_write(stdout, m) < 0)
                return complain_memory();
        return verb_flush();
}

static int fetch(const Context *context, const char *id, ReportModel **ret) {
        _cleanup_(connection_freep) Connection *c = NULL;
        int r;

        r = verb_connect(context, &c);
        if (r != STATUS_DONE)
                return r;
        r = report_model_fetch(c, id, /* wait= */ false, ret);
        return r != 0 ? verb_failed(context, c, r) : STATUS_DONE;
}

static int print(const Options *options, ReportModel *m, ReportFiles *files) {
        const ReportTextOptions text = {.prefix = "", .all = options_has(options, OPTION_ALL_ROWS)};
        int r, written;

        written = report_files_write(files, m);
        if (str_equal(files->html_name, "-"))
                return written;
        r = options_has(options, OPTION_JSON) ? print_json(m) : outcome_print(stdout, m, &text);
        return r != STATUS_DONE ? r : written;
}

int verb_report(const Context *context, const Options *options) {
        _cleanup_(report_model_freep) ReportModel *m = NULL;
        ReportFiles files;
        int r;

        if (options_has(options, OPTION_JSON) && str_equal(options->value[OPTION_HTML], "-")) {
                complain("only one of --json and --html - can go to standard output");
                return STATUS_USAGE;
        }
        r = report_files_open(options, /* stdout_is_free= */ true, &files);
        if (r != STATUS_DONE)
                return r;
        r = fetch(context, options->arguments[0], &m);
        if (r == STATUS_DONE)
                r = print(options, m, &files);
        report_files_close(&files);
        return r;
}
