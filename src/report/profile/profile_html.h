#ifndef GF_REPORT_PROFILE_PROFILE_HTML_H
#define GF_REPORT_PROFILE_PROFILE_HTML_H

#include "report/profile/profile_report.h"

/* Writes the part of a run: its figures, its timeline (if the profile has spans), and a row for
 * each stage. `heading` is "" for a page that has only one run. `id` identifies the part, by
 * letters and digits. */
enum gf_status gf_profile_html(FILE *file, const struct gf_profile_report *report,
                               const struct gf_profile *profile, const char *id,
                               const char *heading, struct gf_error *error) GF_CHECKED;

#endif
