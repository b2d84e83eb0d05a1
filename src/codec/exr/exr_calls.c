/* OpenEXR's core library, and what it says. */
#include "codec/exr/exr_calls.h"

#include <stdio.h>
#include <string.h>

struct gf_exr_calls gf_exr;
struct gf_library gf_exr_library =
    GF_LIBRARY(gf_exr, GF_EXR_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_OpenEXRCore));
_Thread_local struct gf_exr_said gf_exr_said;

void gf_exr_note(exr_const_context_t context, exr_result_t code, const char *text)
{
    if (!*gf_exr_said.why && text)
        snprintf(gf_exr_said.why, sizeof gf_exr_said.why, "%.*s", (int)strcspn(text, "\r\n"), text);
}

const char *gf_exr_why(exr_result_t code)
{
    return *gf_exr_said.why ? gf_exr_said.why : gf_exr.exr_get_default_error_message(code);
}
