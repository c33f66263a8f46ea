/* SPDX-License-Identifier: MIT */
/* org.varlink.service: what every Varlink service tells about itself. The userdata of its methods is the ApiServer. */
#ifndef MOUNTWATCH_API_SERVICE_H
#define MOUNTWATCH_API_SERVICE_H

#include "daemon/api/server.h"

#define SERVICE_METHODS 2

extern const char *const service_description;
extern const ApiMethod service_methods[SERVICE_METHODS];

#endif
