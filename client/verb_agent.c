/* SPDX-License-Identifier: MIT */
/* mountwatch agent: alerts as notifications of the desktop, with buttons to answer. */
#include <langinfo.h>
#include <locale.h>

#include "client/agent.h"

int verb_agent(const Context *context, const Options *options) {
        /* a service of the user may have no locale, and the bus speaks UTF-8 */
        if (!str_equal(nl_langinfo(CODESET), "UTF-8"))
                (void) setlocale(LC_CTYPE, "C.UTF-8");
        return agent_run(context);
}
