/* The names and descriptions of statuses, from the list in gpufilter/status.h. */
#include "gpufilter/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text/plain_text.h"

static const struct {
    const char *name, *meaning;
} outcomes[] = {
#define OUTCOME(name_, text_) {#name_, text_},
    GF_STATUS_LIST(OUTCOME)
#undef OUTCOME
};

static int is_known(enum gf_status status)
{
    return (int)status >= 0 && status < GF_STATUS_COUNT;
}

enum gf_status gf_fail(struct gf_error *error, enum gf_status status, const char *format, ...)
{
    if (!error)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format ? format : gf_status_meaning(status),
              arguments);
    va_end(arguments);
    gf_make_printable(error->text);
    return status;
}

const char *gf_status_name(enum gf_status status)
{
    return is_known(status) ? outcomes[status].name : "unknown status";
}

const char *gf_status_meaning(enum gf_status status)
{
    return is_known(status) ? outcomes[status].meaning : "not a status of this library";
}
