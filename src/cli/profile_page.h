/* Writes the page of a run (--profile=html:FILE). */
#pragma once

#include "cli/command/command.h"
#include "report/batch/batch_report.h"
#include "report/profile/profile_report.h"

/* The contents of the page. */
struct gf_profile_page {
    const struct gf_command *command;
    const struct gf_profile_report *report;
    const struct gf_profile *profile;
    const struct gf_batch_report *batch; /* the batch's report, if there are several pictures; else
                                          * NULL */
};

/* Writes the page. The function is a gf_report_writer, whose context is a struct gf_profile_page.
 */
enum gf_status gf_profile_page_put(FILE *file, const void *context, struct gf_error *error);
