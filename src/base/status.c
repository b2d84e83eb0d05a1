/* Outcomes: their names, meanings and exit statuses, from the one list in status.h. */
#include "gpufilter/status.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name, *meaning;
    int exit_code;
} outcomes[] = {
#define OUTCOME(name_, exit_, text_) {#name_, text_, exit_},
    GF_STATUS_LIST(OUTCOME)
#undef OUTCOME
};

enum gf_status gf_fail(struct gf_error *error, enum gf_status status, const char *format, ...)
{
    if (!error)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    /* One line whatever was quoted in it, and nothing that a terminal would obey. */
    for (unsigned char *byte = (unsigned char *)error->text; *byte; byte++) {
        if (*byte < ' ' || *byte == 0x7f)
            *byte = '?';
    }
    return status;
}

const char *gf_status_name(enum gf_status status)
{
    return outcomes[status].name;
}

const char *gf_status_meaning(enum gf_status status)
{
    return outcomes[status].meaning;
}

int gf_status_exit(enum gf_status status)
{
    return outcomes[status].exit_code;
}
