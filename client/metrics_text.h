/* SPDX-License-Identifier: MIT */
/* The reply of GetMetrics for monitoring: as OpenMetrics 1.0, or in the text format 0.0.4 of Prometheus. Pure but for the stream. */
#ifndef MOUNTWATCH_CLIENT_METRICS_TEXT_H
#define MOUNTWATCH_CLIENT_METRICS_TEXT_H

#include <json-c/json.h>
#include <stdio.h>

/* In the older one a family has the name of its samples, with _total, and nothing marks the end. */
typedef enum MetricsFormat {
        METRICS_OPENMETRICS,
        METRICS_PROMETHEUS,
} MetricsFormat;

/* `reply` NULL: there is no daemon; that is a metric, too. -EBADMSG for another shape: then nothing has been written. */
int metrics_print(FILE *f, MetricsFormat format, json_object *reply);

#endif
