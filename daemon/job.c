/* SPDX-License-Identifier: MIT */
#include "daemon/job.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utlist.h>

#define JOB_STACK_BYTES (512 * 1024)

typedef struct Job {
        struct Job *prev, *next;
        Jobs *jobs;
        job_run_t run;
        job_done_t done;
        void *userdata;
        bool background;
} Job;

/* Shared with the threads: it lives until the loop has let go of it and the last thread has come back. */
struct Jobs {
        pthread_mutex_t mutex;
        Manager *manager; /* NULL once the loop has let go */
        sd_event_source *source;
        int fd;
        unsigned running;    /* threads */
        unsigned background; /* of them */
        Job *finished;
};

/* Called with the mutex held; releases it. */
static void jobs_unlock_and_maybe_free(Jobs *j) {
        bool last = !j->manager && j->running == 0;

        (void) pthread_mutex_unlock(&j->mutex);
        if (!last)
                return;
        (void) safe_close(j->fd);
        (void) pthread_mutex_destroy(&j->mutex);
        free(j);
}

static void *job_thread(void *userdata) {
        Job *job = userdata;
        Jobs *j = job->jobs;
        Job *orphan = NULL;

        job->run(job->userdata);
        (void) pthread_mutex_lock(&j->mutex);
        j->running--;
        j->background -= job->background;
        if (j->manager) {
                DL_APPEND(j->finished, job);
                (void) eventfd_write(j->fd, 1);
        } else
                orphan = job;
        jobs_unlock_and_maybe_free(j);
        if (orphan) {
                orphan->done(NULL, orphan->userdata);
                free(orphan);
        }
        return NULL;
}

static Job *jobs_take(Jobs *j) {
        Job *job;

        (void) pthread_mutex_lock(&j->mutex);
        job = j->finished;
        if (job)
                DL_DELETE(j->finished, job);
        (void) pthread_mutex_unlock(&j->mutex);
        return job;
}

static int jobs_on_finished(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Jobs *j = userdata;
        eventfd_t n;
        Job *job;

        (void) eventfd_read(fd, &n);
        while ((job = jobs_take(j))) {
                job->done(j->manager, job->userdata);
                free(job);
        }
        return 0;
}

int jobs_new(Manager *m, Jobs **ret) {
        Jobs *j = calloc(1, sizeof *j);
        int r;

        if (!j)
                return -ENOMEM;
        (void) pthread_mutex_init(&j->mutex, NULL);
        j->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        r = j->fd < 0 ? -errno
                      : sd_event_add_io(m->event, &j->source, j->fd, EPOLLIN, jobs_on_finished, j);
        if (r < 0) {
                (void) safe_close(j->fd);
                free(j);
                return r;
        }
        j->manager = m;
        *ret = j;
        return 0;
}

Jobs *jobs_free(Jobs *j) {
        Job *job;

        if (!j)
                return NULL;
        j->source = sd_event_source_disable_unref(j->source);
        while ((job = jobs_take(j))) {
                job->done(NULL, job->userdata);
                free(job);
        }
        (void) pthread_mutex_lock(&j->mutex);
        j->manager = NULL;
        jobs_unlock_and_maybe_free(j);
        return NULL;
}

static int spawn(Job *job) {
        pthread_attr_t attributes;
        sigset_t all, before;
        pthread_t thread;
        int r;

        (void) pthread_attr_init(&attributes);
        (void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        (void) pthread_attr_setstacksize(&attributes, JOB_STACK_BYTES);
        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&thread, &attributes, job_thread, job);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void) pthread_attr_destroy(&attributes);
        return r == EAGAIN ? -ENOMEM : -r; /* it does not pass by itself */
}

static int start(Jobs *j, const Job *like) {
        Job *job = calloc(1, sizeof *job);
        int r = 0;

        if (!job)
                return -ENOMEM;
        *job = *like;
        (void) pthread_mutex_lock(&j->mutex);
        if (j->running >= JOBS_MAX || (job->background && j->background >= JOBS_BACKGROUND_MAX))
                r = -EAGAIN;
        else {
                j->running++;
                j->background += job->background;
        }
        (void) pthread_mutex_unlock(&j->mutex);
        if (r >= 0) {
                r = spawn(job);
                if (r < 0) {
                        (void) pthread_mutex_lock(&j->mutex);
                        j->running--;
                        j->background -= job->background;
                        (void) pthread_mutex_unlock(&j->mutex);
                }
        }
        if (r < 0)
                free(job);
        return r;
}

int job_start(Jobs *j, job_run_t run, job_done_t done, void *userdata) {
        return start(j, &(Job){.jobs = j, .run = run, .done = done, .userdata = userdata});
}

int job_start_background(Jobs *j, job_run_t run, job_done_t done, void *userdata) {
        return start(j,
                     &(Job){.jobs = j,
                            .run = run,
                            .done = done,
                            .userdata = userdata,
                            .background = true});
}
