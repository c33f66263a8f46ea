/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/content.h"

/* File times come from a clock that ticks every 1 to 10 ms (before 6.13 for everything, later for most). */
#define TICK_SLACK_NSEC (20 * (int64_t) NSEC_PER_USEC * 1000)
/* A server's clock is a little off. */
#define NOW_SLACK_NSEC (2 * (int64_t) NSEC_PER_SEC)

static bool is_explained(const Node *object, const GroundStat *s) {
        if (object->content == CONTENT_BOUNDED)
                return s->mtime <= object->mtime;
        return object->size == s->size && object->mtime == s->mtime;
}

static bool is_known(const Node *object) {
        return object->content == CONTENT_KNOWN || object->content == CONTENT_BOUNDED;
}

void content_settle(Node *object, const GroundStat *s) {
        object->size = s->size;
        object->mtime = s->mtime;
        object->content = CONTENT_KNOWN;
}

/* Wall clock before which the record's event cannot have been. */
static int64_t earliest(const Record *rec) {
        return (int64_t) (rec->at * NSEC_PER_USEC) - (int64_t) (rec->read_at - rec->not_before);
}

/* An mtime that a write between the last empty queue and now cannot have given. */
static bool is_set_time(int64_t mtime, const Record *rec) {
        return mtime > (int64_t) (rec->at * NSEC_PER_USEC) + NOW_SLACK_NSEC ||
                mtime < earliest(rec) - NOW_SLACK_NSEC;
}

/* The record changed nothing: same size, and a write would have made the old mtime younger. Two writes in one tick of the
 * clock have the same mtime. A share may tell of a new mtime only later. */
static bool is_untouched(const Ground *g, const Node *object, const GroundStat *s,
                         const Record *rec) {
        if (object->size == 0 && s->size == 0)
                return true;
        return !g->remote && is_explained(object, s) && s->mtime < earliest(rec) - TICK_SLACK_NSEC;
}

bool content_differs(Ground *g, const Node *object, GroundStat *ret) {
        GroundStat s;

        if (!object || !is_known(object) || ground_stat_names(g, object, &s) < 0 ||
            is_explained(object, &s))
                return false;
        *ret = s;
        return true;
}

bool content_is_explained(const Node *object, const GroundStat *s) {
        return !is_known(object) || is_explained(object, s);
}

bool content_is_born(const GroundStat *s, const Record *rec) {
        return s->btime > earliest(rec) - NOW_SLACK_NSEC;
}

/*
 * A look at each of the files that a burst writes would take as long as the whole rest. What the record explains cannot be younger than
 * the read that brought it, and a store through a mapping later is: that is enough to know it by. Set times would have to be read, and
 * a server's clock is its own.
 */
static bool take_bound(const Ground *g, Node *object, const Record *rec) {
        if (!rec->burst || g->remote || rec->fan.mask & FAN_BIT_ATTRIB)
                return false;
        object->mtime = (int64_t) (rec->at * NSEC_PER_USEC) + TICK_SLACK_NSEC;
        object->content = CONTENT_BOUNDED;
        return true;
}

ContentChange content_modified(Ground *g, Node *object, const Record *rec) {
        ContentChange change = CONTENT_CHANGED;
        bool known, bounded, closed = rec->fan.mask & FAN_BIT_CLOSE_WRITE;
        GroundStat s;

        if (!object)
                return CONTENT_CHANGED;
        known = object->content == CONTENT_KNOWN && !(rec->fan.mask & FAN_BIT_CREATE);
        bounded = object->content == CONTENT_BOUNDED && !(rec->fan.mask & FAN_BIT_CREATE);
        if (!known && closed && take_bound(g, object, rec))
                return CONTENT_CHANGED;
        /* A file that is being written is looked at again when it is closed. */
        if ((!known && !bounded && !closed) ||
            ground_stat_object(g, &rec->fan.child, object, &s) < 0) {
                object->content = CONTENT_STALE;
                return CONTENT_CHANGED;
        }
        if (known && is_untouched(g, object, &s, rec))
                change = CONTENT_SAME;
        else if ((bounded || (known && object->size == s.size)) &&
                 !(rec->fan.mask & FAN_BIT_ATTRIB) && is_set_time(s.mtime, rec))
                change = CONTENT_TIMES;
        content_settle(object, &s);
        if (change == CONTENT_CHANGED && !closed)
                object->content = CONTENT_STALE;
        return change;
}

void content_touched(Ground *g, Node *object, const Record *rec) {
        GroundStat s;

        if (!object || !is_known(object))
                return;
        if (ground_stat_object(g, &rec->fan.child, object, &s) < 0)
                return;
        /* Setting times explains a new mtime and never a new size. */
        if (object->content == CONTENT_KNOWN)
                object->mtime = s.mtime;
        else
                content_settle(object, &s);
}

bool content_closed(Ground *g, Node *object, const Record *rec, GroundStat *ret) {
        GroundStat s;

        if (!object || ground_stat_object(g, &rec->fan.child, object, &s) < 0)
                return false;
        if (!is_known(object) || rec->fan.mask & FAN_BIT_CREATE) {
                content_settle(object, &s);
                return false;
        }
        if (is_explained(object, &s)) {
                content_settle(object, &s);
                return false;
        }
        *ret = s;
        return true;
}
