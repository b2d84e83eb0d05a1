/* A run on the page. */
#ifndef GF_REPORT_PROFILE_PROFILE_HTML_H
#define GF_REPORT_PROFILE_PROFILE_HTML_H

#include "report/profile/profile_report.h"

/* The part of a run: its figures, its timeline (where the profile has spans), a row for each stage.
 * heading: "" for a page that has one run. id: of the part, letters and digits. */
enum gf_status gf_profile_html(FILE *file, const struct gf_profile_report *report,
                               const struct gf_profile *profile, const char *id,
                               const char *heading, struct gf_error *error) GF_CHECKED;

#endif
