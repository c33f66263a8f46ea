/* SPDX-License-Identifier: MIT */
/*
 * A Varlink interface description (UAPI.20), parsed so that the parameters of a call can be checked against it. Pure: text
 * and JSON in, a verdict out.
 */
#ifndef MOUNTWATCH_API_IDL_H
#define MOUNTWATCH_API_IDL_H

#include "common/macro.h"

#include <json-c/json.h>

#define IDL_DEPTH_MAX 16 /* of types inside types */

typedef struct Idl Idl;
typedef struct IdlType IdlType;

/* -EBADMSG: not a description, or one that names a type it does not define, or a name twice; *ret_line (may be NULL) is then
 * where. */
int idl_parse(const char *text, Idl **ret, unsigned *ret_line);
Idl *idl_free(Idl *idl);
DEFINE_CLEANUP(Idl *, idl_free)

/* All borrowed from the Idl. */
const char *idl_interface(const Idl *idl);
/* What a method takes, what it gives; NULL: no such method. */
const IdlType *idl_method_input(const Idl *idl, const char *method);
const IdlType *idl_method_output(const Idl *idl, const char *method);

/* Do the parameters (NULL is the same as {}) fit? 0, or -EINVAL and the name of the first one that is unknown, missing or of
 * another type; it is borrowed from `type` or from `parameters`. A string with a NUL inside does not fit: what is done with it
 * later would end at the NUL. */
int idl_check(const IdlType *type, json_object *parameters, const char **ret_parameter);

#endif
