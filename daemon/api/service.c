/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/version.h"
#include "daemon/api/service.h"

const char *const service_description =
        "# The Varlink Service Interface is provided by every varlink service. It describes the\n"
        "# service and the interfaces it implements.\n"
        "interface org.varlink.service\n"
        "\n"
        "# Get a list of all the interfaces a service provides and information about the\n"
        "# implementation.\n"
        "method GetInfo() -> (\n"
        "  vendor: string,\n"
        "  product: string,\n"
        "  version: string,\n"
        "  url: string,\n"
        "  interfaces: []string\n"
        ")\n"
        "\n"
        "# Get the description of an interface that is implemented by this service.\n"
        "method GetInterfaceDescription(interface: string) -> (description: string)\n"
        "\n"
        "# The requested interface was not found.\n"
        "error InterfaceNotFound (interface: string)\n"
        "\n"
        "# The requested method was not found.\n"
        "error MethodNotFound (method: string)\n"
        "\n"
        "# The interface defines the requested method, but the service does not implement it.\n"
        "error MethodNotImplemented (method: string)\n"
        "\n"
        "# One of the passed parameters is invalid.\n"
        "error InvalidParameter (parameter: string)\n"
        "\n"
        "# Client is denied access.\n"
        "error PermissionDenied ()\n"
        "\n"
        "# Method is expected to be called with 'more' set to true, but wasn't.\n"
        "error ExpectedMore ()\n"
        "\n"
        "# Method is expected to be called with 'upgrade' set to true, but wasn't.\n"
        "error ExpectedUpgrade ()\n";

/* Adds a string; takes the failure of earlier ones along. */
static int add_string(json_object *o, const char *key, const char *value) {
        json_object *s = json_object_new_string(value);

        if (s && json_object_object_add(o, key, s) == 0)
                return 0;
        json_object_put(s);
        return -ENOMEM;
}

static int add_interfaces(json_object *o, const ApiServer *server) {
        json_object *array = json_object_new_array();

        if (!array || json_object_object_add(o, "interfaces", array) < 0) {
                json_object_put(array);
                return -ENOMEM;
        }
        for (size_t i = 0; i < _INTERFACE_MAX; i++) {
                json_object *name =
                        json_object_new_string(idl_interface(server->interfaces[i].idl));

                if (!name || json_object_array_add(array, name) < 0) {
                        json_object_put(name);
                        return -ENOMEM;
                }
        }
        return 0;
}

static void reply_or_fail(ApiCall *call, json_object *o, int r) {
        if (r >= 0) {
                (void) api_call_reply(call, o, /* continues= */ false);
                return;
        }
        json_object_put(o);
        (void) api_call_error(call, "Unavailable", NULL); /* no memory for a reason either */
}

static void get_info(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        static const struct {
                const char *key, *value;
        } strings[] = {
                {"vendor", "mountwatch"},
                {"product", "mountwatch"},
                {"version", MOUNTWATCH_VERSION},
                {"url", ""},
        };
        json_object *o = json_object_new_object();
        int r = o ? 0 : -ENOMEM;

        for (size_t i = 0; i < ELEMENTSOF(strings) && r >= 0; i++)
                r = add_string(o, strings[i].key, strings[i].value);
        if (r >= 0)
                r = add_interfaces(o, userdata);
        reply_or_fail(call, o, r);
}

static void get_interface_description(ApiCall *call, const Peer *peer, json_object *parameters,
                                      void *userdata) {
        const char *name = json_object_get_string(json_object_object_get(parameters, "interface"));
        const ApiInterface *interface = api_server_find_interface(userdata, name, strlen(name));
        json_object *o = json_object_new_object();
        int r = o ? 0 : -ENOMEM;

        if (r >= 0)
                r = interface ? add_string(o, "description", interface->description)
                              : add_string(o, "interface", name);
        if (r < 0 || interface)
                reply_or_fail(call, o, r);
        else
                (void) api_call_error(call, "org.varlink.service.InterfaceNotFound", o);
}

const ApiMethod service_methods[SERVICE_METHODS] = {
        {"GetInfo", get_info, /* needs_more= */ false},
        {"GetInterfaceDescription", get_interface_description, /* needs_more= */ false},
};
