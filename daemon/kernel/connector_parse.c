/* SPDX-License-Identifier: MIT */
/* The wire format of the process connector: netlink header, connector header, struct proc_event. Bytes in, events out. */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include "daemon/kernel/connector.h"

#define EVENT_HEADER_SIZE offsetof(struct proc_event, event_data)

typedef struct Message {
        struct proc_event event; /* zeros where the kernel's is shorter */
        size_t event_size;
        struct cn_msg head;
} Message;

/* Takes one message off [*p, end). 1: *ret is set, 0: nothing left, -ENODATA: a message of another kind. */
static int take_message(const char **p, const char *end, Message *ret) {
        struct nlmsghdr h;
        Message m = {0};
        size_t left = (size_t) (end - *p), length;
        const char *at = *p;

        if (left == 0)
                return 0;
        if (left < NLMSG_HDRLEN)
                return -EBADMSG;
        memcpy(&h, at, sizeof(h));
        if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > left)
                return -EBADMSG;
        *p += MIN((size_t) NLMSG_ALIGN((size_t) h.nlmsg_len), left);

        if (h.nlmsg_type != NLMSG_DONE) /* what the connector sends, single messages too */
                return -ENODATA;
        length = h.nlmsg_len - NLMSG_HDRLEN;
        if (length < sizeof(m.head))
                return -EBADMSG;
        memcpy(&m.head, at + NLMSG_HDRLEN, sizeof(m.head));
        if (m.head.id.idx != CN_IDX_PROC || m.head.id.val != CN_VAL_PROC)
                return -ENODATA;
        if (m.head.len > length - sizeof(m.head) || m.head.len < EVENT_HEADER_SIZE)
                return -EBADMSG;
        m.event_size = MIN((size_t) m.head.len, sizeof(m.event));
        memcpy(&m.event, at + NLMSG_HDRLEN + sizeof(m.head), m.event_size);
        *ret = m;
        return 1;
}

/* Was the member of event_data that the message is about sent in full? */
#define HAS(m, member) ((m)->event_size >= EVENT_HEADER_SIZE + sizeof((m)->event.event_data.member))

/* 1: an event of interest. Threads are told from processes by pid != tgid. */
static int to_event(const Message *m, ProcEvent *ret) {
        const struct proc_event *e = &m->event;
        ProcEvent out = {.at = e->timestamp_ns};
        pid_t thread;

        switch ((uint32_t) e->what) {
        case PROC_EVENT_FORK:
                if (!HAS(m, fork))
                        return -EBADMSG;
                out.type = PROC_FORK;
                out.pid = e->event_data.fork.child_tgid;
                out.parent = e->event_data.fork.parent_tgid;
                thread = e->event_data.fork.child_pid;
                break;
        case PROC_EVENT_EXEC:
                if (!HAS(m, exec))
                        return -EBADMSG;
                out.type = PROC_EXEC;
                out.pid = e->event_data.exec.process_tgid;
                thread = out.pid;
                break;
        case PROC_EVENT_UID:
                if (!HAS(m, id))
                        return -EBADMSG;
                out.type = PROC_UID;
                out.pid = e->event_data.id.process_tgid;
                out.uid = e->event_data.id.e.euid;
                thread = e->event_data.id.process_pid;
                break;
        case PROC_EVENT_EXIT:
                /* The parent's numbers at its end came with 4.18 and are not needed. */
                if (m->event_size < EVENT_HEADER_SIZE + 2 * sizeof(pid_t))
                        return -EBADMSG;
                out.type = PROC_EXIT;
                out.pid = e->event_data.exit.process_tgid;
                thread = e->event_data.exit.process_pid;
                break;
        default:
                return 0;
        }
        if (out.pid <= 0 || out.parent < 0)
                return -EBADMSG;
        if (thread != out.pid)
                return 0;
        *ret = out;
        return 1;
}

int connector_parse(const void *data, size_t size, ProcEvent *ret, size_t n_max) {
        const char *p = data, *end = p + size;
        size_t n = 0;

        while (n < n_max) {
                Message m;
                int r = take_message(&p, end, &m);

                if (r == -ENODATA)
                        continue;
                if (r == 1)
                        r = to_event(&m, &ret[n]);
                else if (r == 0)
                        break;
                if (r < 0)
                        return r;
                n += (size_t) r;
        }
        return (int) n;
}

int connector_parse_ack(const void *data, size_t size, uint32_t token) {
        const char *p = data, *end = p + size;

        for (;;) {
                Message m;
                int r = take_message(&p, end, &m);

                if (r == 0 || r == -EBADMSG)
                        return -ENODATA;
                /* Multicast like the rest: somebody else's request is answered to all, too. The kernel puts a number
                 * of its own into seq, and what the request had in ack, plus one, into ack (cn_proc_ack). */
                if (r < 0 || m.event.what != PROC_EVENT_NONE || m.head.ack != token + 1 ||
                    !HAS(&m, ack))
                        continue;
                if (m.event.event_data.ack.err > 4095) /* MAX_ERRNO */
                        return -EBADMSG;
                return -(int) m.event.event_data.ack.err;
        }
}
