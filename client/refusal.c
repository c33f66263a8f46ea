/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/refusal.h"
#include "common/path_text.h"
#include "common/varlink.h"

/* The %s of `format` stands for the value of `member`. */
typedef struct RefusalInfo {
        const char *name, *member, *format;
} RefusalInfo;

static const RefusalInfo refusal_table[] = {
        {MOUNTWATCH_INTERFACE ".NoSuchSession", "id",
         "there is no session '%s' that you may see ('mountwatch session list --all' shows them)"},
        {MOUNTWATCH_INTERFACE ".NoSuchWatch", "name",
         "there is no watch '%s' ('mountwatch watch list' shows them)"},
        {MOUNTWATCH_INTERFACE ".NotInSession", NULL,
         "this process is in no session: name one ('mountwatch session list' shows them)"},
        {MOUNTWATCH_INTERFACE ".SessionEnded", "id",
         "session '%s' has ended ('mountwatch report ID' shows what it did)"},
        {MOUNTWATCH_INTERFACE ".NoSuchProcess", "pid", "there is no process %s"},
        {MOUNTWATCH_INTERFACE ".NoSuchHeld", "id",
         "nothing waits under the number %s: it was answered, or its deadline has passed ('mountwatch decide' "
         "lists what waits)"},
        {MOUNTWATCH_INTERFACE ".NoSuchWebhook", "name",
         "there is no webhook '%s' ('mountwatch status' shows them)"},
        {MOUNTWATCH_INTERFACE ".SessionLive", "id",
         "session %s still runs: stop it first ('mountwatch session stop ID' or 'session kill ID')"},
        {MOUNTWATCH_INTERFACE ".UndoBusy", "id", "session %s is being undone already"},
        {MOUNTWATCH_INTERFACE ".NoSuchItem", "item",
         "the quarantine has no '%s' that you may touch ('mountwatch quarantine list' shows them)"},
        {MOUNTWATCH_INTERFACE ".PathExists", "path",
         "something else is at '%s' now: move it away first"},
        {MOUNTWATCH_INTERFACE ".NoDirectory", "path",
         "the directory of '%s' is gone: make it first"},
        {MOUNTWATCH_INTERFACE ".StoreFull", NULL,
         "the disk with the daemon's state is full: make room, then run it again, it goes on where it stopped"},
        {MOUNTWATCH_INTERFACE ".NotPermitted", "reason", "not permitted: %s"},
        {MOUNTWATCH_INTERFACE ".Unavailable", "reason", "not possible now: %s"},
        {"org.varlink.service.PermissionDenied", NULL, "not permitted"},
        {"org.varlink.service.MethodNotFound", "method",
         "the daemon does not know '%s': it is of another version than this program"},
        {"org.varlink.service.InterfaceNotFound", "interface",
         "the daemon does not know '%s': the socket belongs to another program"},
        {"org.varlink.service.MethodNotImplemented", "method", "the daemon cannot do '%s'"},
        {"org.varlink.service.InvalidParameter", "parameter",
         "the daemon does not accept this value of '%s'"},
};

static char *member_of(json_object *parameters, const char *name) {
        json_object *value = NULL;

        if (!name || !parameters || !json_object_object_get_ex(parameters, name, &value))
                return strdup("?");
        return path_to_text(json_object_get_string(value));
}

static char *config_invalid(json_object *parameters) {
        _cleanup_free_ char *file = member_of(parameters, "file"),
                            *line = member_of(parameters, "line"),
                            *reason = member_of(parameters, "reason");
        char *text;

        if (!file || !line || !reason ||
            asprintf(&text, "%s:%s: %s (the running configuration stays)", file, line, reason) < 0)
                return NULL;
        return text;
}

static char *limit_reached(json_object *parameters) {
        _cleanup_free_ char *limit = member_of(parameters, "limit"),
                            *max = member_of(parameters, "max");
        char *text;

        if (!limit || !max || asprintf(&text, "limit reached: no more than %s %s", max, limit) < 0)
                return NULL;
        return text;
}

static char *format_one(const RefusalInfo *info, json_object *parameters) {
        _cleanup_free_ char *value = NULL;
        const char *hole = strstr(info->format, "%s");
        char *text;

        if (!hole)
                return strdup(info->format);
        value = member_of(parameters, info->member);
        if (!value ||
            asprintf(&text, "%.*s%s%s", (int) (hole - info->format), info->format, value,
                     hole + strlen("%s")) < 0)
                return NULL;
        return text;
}

char *refusal_to_text(const char *name, json_object *parameters) {
        _cleanup_free_ char *safe = NULL;
        char *text;

        for (size_t i = 0; i < ELEMENTSOF(refusal_table); i++)
                if (str_equal(refusal_table[i].name, name))
                        return format_one(&refusal_table[i], parameters);
        if (str_equal(name, MOUNTWATCH_INTERFACE ".ConfigInvalid"))
                return config_invalid(parameters);
        if (str_equal(name, MOUNTWATCH_INTERFACE ".LimitReached"))
                return limit_reached(parameters);
        safe = path_to_text(name);
        if (!safe || asprintf(&text, "the daemon refused: %s", safe) < 0)
                return NULL;
        return text;
}
