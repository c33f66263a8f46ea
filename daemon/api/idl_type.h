/* SPDX-License-Identifier: MIT */
/* The tree that idl.c builds and idl_check.c walks. */
#ifndef MOUNTWATCH_API_IDL_TYPE_H
#define MOUNTWATCH_API_IDL_TYPE_H

#include "daemon/api/idl.h"

#include <stdbool.h>

typedef enum IdlKind {
        IDL_BOOL,
        IDL_INT,
        IDL_FLOAT,
        IDL_STRING,
        IDL_OBJECT,
        IDL_ANY,
        IDL_ENUM,
        IDL_STRUCT,
        IDL_ARRAY,
        IDL_MAP,
        IDL_NAMED,
} IdlKind;

typedef struct IdlField {
        char *name;
        IdlType *type; /* NULL in an enum */
} IdlField;

struct IdlType {
        IdlKind kind;
        bool nullable;
        IdlType *element;        /* of an array or map */
        char *name;              /* of a named type */
        const IdlType *resolved; /* what the name stands for; borrowed from the Idl */
        unsigned line;
        IdlField *fields; /* of a struct or enum */
        size_t n_fields;
};

#endif
