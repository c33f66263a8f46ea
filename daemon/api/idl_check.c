/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/api/idl_type.h"

static bool value_fits(const IdlType *type, json_object *value);

static const IdlField *find_field(const IdlType *type, const char *name) {
        for (size_t i = 0; i < type->n_fields; i++)
                if (str_equal(type->fields[i].name, name))
                        return &type->fields[i];
        return NULL;
}

/* json-c keeps what is above INT64_MAX as unsigned, and cuts it to INT64_MAX when asked for an int64. */
static bool is_int64(json_object *value) {
        return json_object_is_type(value, json_type_int) &&
                json_object_get_uint64(value) <= INT64_MAX;
}

static bool is_text(json_object *value) {
        return json_object_is_type(value, json_type_string) &&
                strlen(json_object_get_string(value)) == (size_t) json_object_get_string_len(value);
}

static bool elements_fit(const IdlType *element, json_object *array) {
        size_t n = json_object_array_length(array);

        for (size_t i = 0; i < n; i++)
                if (!value_fits(element, json_object_array_get_idx(array, i)))
                        return false;
        return true;
}

static bool members_fit(const IdlType *element, json_object *object) {
        struct json_object_iter i;

        json_object_object_foreachC(object, i) {
                if (!value_fits(element, i.val))
                        return false;
        }
        return true;
}

/* The depth is bounded by that of the JSON text: every step down in the type is one in the value, or ends in the next. */
static bool value_fits(const IdlType *type, json_object *value) {
        const char *parameter;

        if (!value)
                return type->nullable;
        switch (type->kind) {
        case IDL_BOOL:
                return json_object_is_type(value, json_type_boolean);
        case IDL_INT:
                return is_int64(value);
        case IDL_FLOAT:
                return json_object_is_type(value, json_type_double) ||
                        json_object_is_type(value, json_type_int);
        case IDL_STRING:
                return is_text(value);
        case IDL_OBJECT:
                return json_object_is_type(value, json_type_object);
        case IDL_ANY:
                return true;
        case IDL_ENUM:
                return is_text(value) && find_field(type, json_object_get_string(value));
        case IDL_STRUCT:
                return json_object_is_type(value, json_type_object) &&
                        idl_check(type, value, &parameter) == 0;
        case IDL_ARRAY:
                return json_object_is_type(value, json_type_array) &&
                        elements_fit(type->element, value);
        case IDL_MAP:
                return json_object_is_type(value, json_type_object) &&
                        members_fit(type->element, value);
        case IDL_NAMED:
                return value_fits(type->resolved, value);
        }
        return false;
}

int idl_check(const IdlType *type, json_object *parameters, const char **ret_parameter) {
        struct json_object_iter member;

        if (parameters) {
                json_object_object_foreachC(parameters, member) {
                        if (!find_field(type, member.key)) {
                                *ret_parameter = member.key;
                                return -EINVAL;
                        }
                }
        }
        for (size_t i = 0; i < type->n_fields; i++) {
                const IdlField *field = &type->fields[i];

                if (!value_fits(field->type, json_object_object_get(parameters, field->name))) {
                        *ret_parameter = field->name;
                        return -EINVAL;
                }
        }
        return 0;
}
