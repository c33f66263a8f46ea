/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api/idl_type.h"

typedef struct IdlMember {
        char *name;
        IdlType *input;  /* of a method; else NULL */
        IdlType *output; /* of a method; else what a type or error is */
        bool is_type;
} IdlMember;

struct Idl {
        char *interface;
        IdlMember *members; /* types, methods and errors: one namespace */
        size_t n_members;
};

typedef struct Parser {
        const char *p;
        unsigned line, depth;
} Parser;

static int parse_type(Parser *s, IdlType **ret);

static IdlType *idl_type_free(IdlType *type) {
        if (!type)
                return NULL;
        idl_type_free(type->element);
        free(type->name);
        for (size_t i = 0; i < type->n_fields; i++) {
                free(type->fields[i].name);
                idl_type_free(type->fields[i].type);
        }
        free(type->fields);
        free(type);
        return NULL;
}
DEFINE_CLEANUP(IdlType *, idl_type_free)

Idl *idl_free(Idl *idl) {
        if (!idl)
                return NULL;
        for (size_t i = 0; i < idl->n_members; i++) {
                free(idl->members[i].name);
                idl_type_free(idl->members[i].input);
                idl_type_free(idl->members[i].output);
        }
        free(idl->members);
        free(idl->interface);
        free(idl);
        return NULL;
}

/* ctype.h asks the locale; the language is ASCII */
static bool is_upper(char c) {
        return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c) {
        return is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool is_alnum(char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
}

static void skip_space(Parser *s) {
        for (;; s->p++) {
                if (*s->p == '#')
                        s->p += strcspn(s->p, "\n");
                if (*s->p == '\n')
                        s->line++;
                else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r')
                        return;
        }
}

static bool accept(Parser *s, const char *token) {
        size_t n = strlen(token);

        skip_space(s);
        if (strncmp(s->p, token, n) != 0)
                return false;
        s->p += n;
        return true;
}

/* A token made of letters, which ends where they end: "type", not the beginning of "typed". */
static bool accept_word(Parser *s, const char *word) {
        size_t n = strlen(word);

        skip_space(s);
        if (strncmp(s->p, word, n) != 0 || is_alnum(s->p[n]) || s->p[n] == '_')
                return false;
        s->p += n;
        return true;
}

static int take_name(Parser *s, size_t n, char **ret) {
        char *name;

        if (n == 0)
                return -EBADMSG;
        name = strndup(s->p, n);
        if (!name)
                return -ENOMEM;
        s->p += n;
        *ret = name;
        return 0;
}

/* [A-Z][A-Za-z0-9]* */
static int parse_name(Parser *s, char **ret) {
        size_t n = 0;

        skip_space(s);
        if (is_upper(*s->p))
                while (is_alnum(s->p[n]))
                        n++;
        return take_name(s, n, ret);
}

/* [A-Za-z](_?[A-Za-z0-9])* */
static int parse_field_name(Parser *s, char **ret) {
        size_t n = 0;

        skip_space(s);
        if (is_letter(*s->p))
                while (is_alnum(s->p[n]) || (s->p[n] == '_' && is_alnum(s->p[n + 1])))
                        n++;
        return take_name(s, n, ret);
}

/* [A-Za-z]([-]*[A-Za-z0-9])*(\.[A-Za-z0-9]([-]*[A-Za-z0-9])*)+ */
static int parse_interface_name(Parser *s, char **ret) {
        size_t n = 0, dots = 0;

        skip_space(s);
        if (!is_letter(*s->p))
                return -EBADMSG;
        for (; is_alnum(s->p[n]) || s->p[n] == '-' || s->p[n] == '.'; n++) {
                if (s->p[n] == '.') {
                        if (!is_alnum(s->p[n - 1]) || !is_alnum(s->p[n + 1]))
                                return -EBADMSG;
                        dots++;
                }
        }
        if (dots == 0 || s->p[n - 1] == '-')
                return -EBADMSG;
        return take_name(s, n, ret);
}

/* Takes `name`, on failure too. */
static int add_field(IdlType *type, char *name, IdlType *field_type) {
        IdlField *grown;
        int r = 0;

        for (size_t i = 0; i < type->n_fields && r == 0; i++)
                if (str_equal(type->fields[i].name, name))
                        r = -EBADMSG;
        grown = r < 0 ? NULL : realloc(type->fields, (type->n_fields + 1) * sizeof *grown);
        if (!grown) {
                free(name);
                idl_type_free(field_type);
                return r < 0 ? r : -ENOMEM;
        }
        type->fields = grown;
        type->fields[type->n_fields++] = (IdlField){.name = name, .type = field_type};
        return 0;
}

/* One "name: type" of a struct or "name" of an enum; the first one settles which of the two it is. */
static int parse_field(Parser *s, IdlType *type) {
        _cleanup_free_ char *name = NULL;
        IdlType *field_type = NULL;
        bool typed;
        int r;

        r = parse_field_name(s, &name);
        if (r < 0)
                return r;
        typed = accept(s, ":");
        if (type->n_fields == 0)
                type->kind = typed ? IDL_STRUCT : IDL_ENUM;
        else if (typed != (type->kind == IDL_STRUCT))
                return -EBADMSG;
        if (typed) {
                r = parse_type(s, &field_type);
                if (r < 0)
                        return r;
        }
        return add_field(type, TAKE_PTR(name), field_type);
}

/* What stands between parentheses. "()" is a struct without fields. */
static int parse_fields(Parser *s, IdlType *type) {
        int r;

        if (!accept(s, "("))
                return -EBADMSG;
        type->kind = IDL_STRUCT;
        if (accept(s, ")"))
                return 0;
        do {
                r = parse_field(s, type);
                if (r < 0)
                        return r;
        } while (accept(s, ","));
        return accept(s, ")") ? 0 : -EBADMSG;
}

static int parse_element(Parser *s, IdlType *type) {
        static const struct {
                const char *word;
                IdlKind kind;
        } words[] = {
                {"bool", IDL_BOOL},     {"int", IDL_INT},       {"float", IDL_FLOAT},
                {"string", IDL_STRING}, {"object", IDL_OBJECT}, {"any", IDL_ANY},
        };

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                if (accept_word(s, words[i].word)) {
                        type->kind = words[i].kind;
                        return 0;
                }
        }
        if (*s->p == '(')
                return parse_fields(s, type);
        type->kind = IDL_NAMED;
        return parse_name(s, &type->name);
}

static int parse_type_inner(Parser *s, IdlType *type) {
        type->nullable = accept(s, "?");
        skip_space(s);
        type->line = s->line;
        if (accept(s, "[]"))
                type->kind = IDL_ARRAY;
        else if (accept(s, "[string]"))
                type->kind = IDL_MAP;
        else
                return parse_element(s, type);
        return parse_type(s, &type->element);
}

static int parse_type(Parser *s, IdlType **ret) {
        _cleanup_(idl_type_freep) IdlType *type = NULL;
        int r;

        if (s->depth >= IDL_DEPTH_MAX)
                return -EBADMSG;
        type = calloc(1, sizeof *type);
        if (!type)
                return -ENOMEM;
        s->depth++;
        r = parse_type_inner(s, type);
        s->depth--;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(type);
        return 0;
}

static int parse_struct(Parser *s, bool or_enum, IdlType **ret) {
        _cleanup_(idl_type_freep) IdlType *type = NULL;
        int r;

        skip_space(s);
        if (*s->p != '(')
                return -EBADMSG;
        r = parse_type(s, &type);
        if (r < 0)
                return r;
        if (type->kind == IDL_ENUM && !or_enum)
                return -EBADMSG;
        *ret = TAKE_PTR(type);
        return 0;
}

static const IdlMember *find_member(const Idl *idl, const char *name) {
        for (size_t i = 0; i < idl->n_members; i++)
                if (str_equal(idl->members[i].name, name))
                        return &idl->members[i];
        return NULL;
}

static int add_member(Idl *idl, IdlMember **ret) {
        IdlMember *grown = realloc(idl->members, (idl->n_members + 1) * sizeof *grown);

        if (!grown)
                return -ENOMEM;
        idl->members = grown;
        *ret = &idl->members[idl->n_members++];
        **ret = (IdlMember){};
        return 0;
}

static int parse_member(Parser *s, Idl *idl) {
        bool is_method = accept_word(s, "method"), is_type = !is_method && accept_word(s, "type");
        _cleanup_free_ char *name = NULL;
        IdlMember *m;
        int r;

        if (!is_method && !is_type && !accept_word(s, "error"))
                return -EBADMSG;
        r = parse_name(s, &name);
        if (r < 0)
                return r;
        if (find_member(idl, name))
                return -EBADMSG;
        r = add_member(idl, &m);
        if (r < 0)
                return r;
        m->name = TAKE_PTR(name);
        m->is_type = is_type;
        if (!is_method)
                return parse_struct(s, /* or_enum= */ is_type, &m->output);
        r = parse_struct(s, /* or_enum= */ false, &m->input);
        if (r < 0)
                return r;
        if (!accept(s, "->"))
                return -EBADMSG;
        return parse_struct(s, /* or_enum= */ false, &m->output);
}

/* Ties the names to what they stand for. A type that holds itself is fine: only a value that ends can be checked. */
static int resolve(const Idl *idl, IdlType *type, unsigned *line) {
        int r = 0;

        if (!type)
                return 0;
        if (type->kind == IDL_NAMED) {
                const IdlMember *m = find_member(idl, type->name);

                if (!m || !m->is_type) {
                        *line = type->line;
                        return -EBADMSG;
                }
                type->resolved = m->output;
        }
        for (size_t i = 0; i < type->n_fields && r == 0; i++)
                r = resolve(idl, type->fields[i].type, line);
        return r < 0 ? r : resolve(idl, type->element, line);
}

static int parse_interface(Parser *s, Idl *idl) {
        int r;

        if (!accept_word(s, "interface"))
                return -EBADMSG;
        r = parse_interface_name(s, &idl->interface);
        if (r < 0)
                return r;
        for (skip_space(s); *s->p; skip_space(s)) {
                r = parse_member(s, idl);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < idl->n_members; i++) {
                r = resolve(idl, idl->members[i].input, &s->line);
                if (r == 0)
                        r = resolve(idl, idl->members[i].output, &s->line);
                if (r < 0)
                        return r;
        }
        return 0;
}

int idl_parse(const char *text, Idl **ret, unsigned *ret_line) {
        _cleanup_(idl_freep) Idl *idl = calloc(1, sizeof *idl);
        Parser s = {.p = text, .line = 1};
        int r;

        if (!idl)
                return -ENOMEM;
        r = parse_interface(&s, idl);
        if (r < 0) {
                if (r == -EBADMSG && ret_line)
                        *ret_line = s.line;
                return r;
        }
        *ret = TAKE_PTR(idl);
        return 0;
}

const char *idl_interface(const Idl *idl) {
        return idl->interface;
}

static const IdlMember *find_method(const Idl *idl, const char *name) {
        const IdlMember *m = find_member(idl, name);

        return m && m->input ? m : NULL;
}

const IdlType *idl_method_input(const Idl *idl, const char *method) {
        const IdlMember *m = find_method(idl, method);

        return m ? m->input : NULL;
}

const IdlType *idl_method_output(const Idl *idl, const char *method) {
        const IdlMember *m = find_method(idl, method);

        return m ? m->output : NULL;
}
