/* SPDX-License-Identifier: MIT */
#include "client/top_model.h"
#include "client/process_book.h"
#include "common/operation_json.h"

#define BOOK_MAX 5000

struct TopModel {
        TopSession *sessions; /* newest first */
        size_t n_sessions;
        char *selected; /* id, or NULL */
        HeldView *held;
        size_t n_held;
        Operation operations[TOP_OPERATIONS_MAX]; /* a ring */
        size_t first_operation, n_operations;     /* first: the oldest */
        ProcessBook *book;
        uint64_t missed;
        uint64_t generation;
};

static void session_done(TopSession *s) {
        session_view_done(&s->view);
}

static void sessions_free(TopSession *sessions, size_t n) {
        for (size_t i = 0; i < n; i++)
                session_done(&sessions[i]);
        free(sessions);
}

static void held_free(HeldView *held, size_t n) {
        for (size_t i = 0; i < n; i++)
                held_view_done(&held[i]);
        free(held);
}

static Operation *operation_slot(TopModel *m, size_t i) {
        return &m->operations[(m->first_operation + i) % TOP_OPERATIONS_MAX];
}

static void forget_operations(TopModel *m) {
        for (size_t i = 0; i < m->n_operations; i++)
                operation_done(operation_slot(m, i));
        m->first_operation = m->n_operations = 0;
        m->missed = 0;
}

int top_model_new(TopModel **ret) {
        _cleanup_(top_model_freep) TopModel *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        r = process_book_new(BOOK_MAX, &m->book);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

TopModel *top_model_free(TopModel *m) {
        if (!m)
                return NULL;
        sessions_free(m->sessions, m->n_sessions);
        held_free(m->held, m->n_held);
        forget_operations(m);
        (void) process_book_free(m->book);
        free(m->selected);
        free(m);
        return NULL;
}

/* ---- sessions ---- */

static TopSession *find_session(TopSession *sessions, size_t n, const char *id) {
        for (size_t i = 0; id && i < n; i++)
                if (str_equal(sessions[i].view.id, id))
                        return &sessions[i];
        return NULL;
}

static void add_sample(TopSession *s, usec_t now) {
        const TopSample *oldest = &s->samples[0];

        if (s->n_samples == TOP_SAMPLES) {
                memmove(&s->samples[0], &s->samples[1], (TOP_SAMPLES - 1) * sizeof(TopSample));
                s->n_samples--;
        }
        s->samples[s->n_samples++] = (TopSample){now, s->view.operations};
        s->rate = 0;
        if (now > oldest->at && s->view.operations > oldest->operations)
                s->rate = (double) (s->view.operations - oldest->operations) *
                        (double) USEC_PER_SEC / (double) (now - oldest->at);
}

static int newest_first(const void *a, const void *b) {
        const TopSession *x = a, *y = b;

        if (x->view.started != y->view.started)
                return x->view.started > y->view.started ? -1 : 1;
        return strcmp(x->view.id, y->view.id);
}

static void count_held(TopModel *m) {
        for (size_t i = 0; i < m->n_sessions; i++)
                m->sessions[i].n_held = 0;
        for (size_t i = 0; i < m->n_held; i++) {
                TopSession *s = find_session(m->sessions, m->n_sessions, m->held[i].session);

                if (s)
                        s->n_held++;
        }
}

/* Its samples go on where they were. */
static void continue_session(TopModel *m, TopSession *s, usec_t now) {
        const TopSession *before = find_session(m->sessions, m->n_sessions, s->view.id);

        if (before) {
                memcpy(s->samples, before->samples, sizeof(s->samples));
                s->n_samples = before->n_samples;
        }
        add_sample(s, now);
}

static int read_sessions(TopModel *m, json_object *array, usec_t now, TopSession *sessions,
                         size_t *n) {
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                TopSession *s = &sessions[*n];
                int r = session_view_from_json(json_object_array_get_idx(array, i), &s->view);

                if (r < 0)
                        return r;
                (*n)++;
                continue_session(m, s, now);
        }
        return 0;
}

/* Those that are not told any more have ended: they stay a little. Takes them out of the model. */
static void keep_ended(TopModel *m, usec_t now, TopSession *sessions, size_t *n) {
        for (size_t i = 0; i < m->n_sessions; i++) {
                TopSession *s = &m->sessions[i];

                if (find_session(sessions, *n, s->view.id))
                        continue;
                if (s->ended == 0)
                        s->ended = now;
                if (now - s->ended >= TOP_ENDED_USEC)
                        continue;
                s->rate = 0;
                s->view.frozen = false;
                sessions[(*n)++] = *s;
                *s = (TopSession){};
        }
}

static int select_id(TopModel *m, const char *id) {
        char *copy = NULL;

        if (str_equal(m->selected, id))
                return 0;
        if (id && !(copy = strdup(id)))
                return -ENOMEM;
        free(m->selected);
        m->selected = copy;
        forget_operations(m);
        return 0;
}

/* When the selected one is gone, what stands in its line now. */
static int mend_selection(TopModel *m, size_t line) {
        if (find_session(m->sessions, m->n_sessions, m->selected))
                return 0;
        if (m->n_sessions == 0)
                return select_id(m, NULL);
        return select_id(m, m->sessions[MIN(line, m->n_sessions - 1)].view.id);
}

int top_model_take_sessions(TopModel *m, json_object *reply, usec_t now) {
        size_t line = top_model_selected_index(m), n = 0;
        TopSession *sessions;
        json_object *array;
        int r = json_need(json_get(reply, "sessions", json_type_array, &array));

        if (r < 0)
                return r;
        sessions = calloc(json_object_array_length(array) + m->n_sessions + 1, sizeof(*sessions));
        if (!sessions)
                return -ENOMEM;
        r = read_sessions(m, array, now, sessions, &n);
        if (r < 0) {
                sessions_free(sessions, n);
                return r;
        }
        keep_ended(m, now, sessions, &n);
        qsort(sessions, n, sizeof(*sessions), newest_first);
        sessions_free(m->sessions, m->n_sessions);
        m->sessions = sessions;
        m->n_sessions = n;
        count_held(m);
        m->generation++;
        return mend_selection(m, line);
}

size_t top_model_count(const TopModel *m) {
        return m->n_sessions;
}

const TopSession *top_model_at(const TopModel *m, size_t i) {
        return &m->sessions[i];
}

size_t top_model_n_live(const TopModel *m) {
        size_t n = 0;

        for (size_t i = 0; i < m->n_sessions; i++)
                n += m->sessions[i].ended == 0;
        return n;
}

const TopSession *top_model_selected(const TopModel *m) {
        return find_session(m->sessions, m->n_sessions, m->selected);
}

size_t top_model_selected_index(const TopModel *m) {
        const TopSession *s = top_model_selected(m);

        return s ? (size_t) (s - m->sessions) : 0;
}

void top_model_move(TopModel *m, long lines) {
        size_t i = top_model_selected_index(m);

        if (m->n_sessions == 0)
                return;
        if (lines < 0)
                i -= MIN(i, (size_t) -lines);
        else
                i = MIN(i + (size_t) lines, m->n_sessions - 1);
        /* without memory it stays where it is */
        (void) select_id(m, m->sessions[i].view.id);
        m->generation++;
}

/* ---- held calls ---- */

int top_model_take_held(TopModel *m, json_object *reply) {
        HeldView *held;
        json_object *array;
        size_t n = 0;
        int r = json_need(json_get(reply, "held", json_type_array, &array));

        if (r < 0)
                return r;
        held = calloc(json_object_array_length(array) + 1, sizeof(*held));
        if (!held)
                return -ENOMEM;
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                r = held_view_from_json(json_object_array_get_idx(array, i), &held[n]);
                if (r < 0) {
                        held_free(held, n);
                        return r;
                }
                n++;
        }
        held_free(m->held, m->n_held);
        m->held = held;
        m->n_held = n;
        count_held(m);
        m->generation++;
        return 0;
}

size_t top_model_n_held(const TopModel *m) {
        return m->n_held;
}

static const HeldView *nth_held(const TopModel *m, bool of_selected, size_t *i) {
        for (size_t k = 0; k < m->n_held; k++)
                if (str_equal(m->held[k].session, m->selected) == of_selected && (*i)-- == 0)
                        return &m->held[k];
        return NULL;
}

const HeldView *top_model_held_at(const TopModel *m, size_t i) {
        const HeldView *h = nth_held(m, /* of_selected= */ true, &i);

        return h ? h : nth_held(m, /* of_selected= */ false, &i);
}

const HeldView *top_model_held_find(const TopModel *m, int64_t id) {
        for (size_t i = 0; i < m->n_held; i++)
                if (m->held[i].id == id)
                        return &m->held[i];
        return NULL;
}

/* ---- operations ---- */

static int take_processes(TopModel *m, json_object *array) {
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                ProcessInfo p = {};
                int r = process_info_from_json(json_object_array_get_idx(array, i), &p);

                r = r < 0 ? r : process_book_take(m->book, &p);
                process_info_done(&p);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* The same one once more, with a count that has grown, replaces itself. */
static Operation *place_for(TopModel *m, int64_t seq) {
        for (size_t i = 0; i < m->n_operations; i++)
                if (operation_slot(m, i)->seq == seq)
                        return operation_slot(m, i);
        if (m->n_operations == TOP_OPERATIONS_MAX) {
                operation_done(operation_slot(m, 0));
                m->first_operation = (m->first_operation + 1) % TOP_OPERATIONS_MAX;
                m->n_operations--;
        }
        *operation_slot(m, m->n_operations) = (Operation){};
        return operation_slot(m, m->n_operations++);
}

static int take_operation(TopModel *m, json_object *o) {
        Operation op = {}, *place;
        int r = operation_from_json(o, &op);

        if (r < 0)
                return r;
        process_book_touch(m->book, op.process_id);
        place = place_for(m, op.seq);
        operation_done(place);
        *place = op;
        return 0;
}

int top_model_take_operations(TopModel *m, json_object *reply) {
        json_object *processes, *operations;
        int64_t missed = 0;
        size_t n;
        int r;

        r = json_need(json_get(reply, "processes", json_type_array, &processes));
        r = r < 0 ? r : json_need(json_get(reply, "operations", json_type_array, &operations));
        r = r < 0 ? r : json_get_int(reply, "missed", 0, INT64_MAX, &missed);
        r = r < 0 ? r : take_processes(m, processes);
        if (r < 0)
                return r;
        n = json_object_array_length(operations);
        for (size_t i = n > TOP_OPERATIONS_MAX ? n - TOP_OPERATIONS_MAX : 0; r >= 0 && i < n; i++)
                r = take_operation(m, json_object_array_get_idx(operations, i));
        m->missed += (uint64_t) missed;
        m->generation++;
        return MIN(r, 0);
}

size_t top_model_n_operations(const TopModel *m) {
        return m->n_operations;
}

const Operation *top_model_operation_at(const TopModel *m, size_t i) {
        size_t from_oldest = m->n_operations - 1 - i;

        return &m->operations[(m->first_operation + from_oldest) % TOP_OPERATIONS_MAX];
}

ProcessSource top_model_processes(const TopModel *m) {
        return process_book_source(m->book);
}

uint64_t top_model_missed(const TopModel *m) {
        return m->missed;
}

uint64_t top_model_generation(const TopModel *m) {
        return m->generation;
}
