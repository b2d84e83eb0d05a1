#include "cli/profile_page.h"

#include <stdio.h>

#include "batch/names/url.h"
#include "gpufilter/filter.h"
#include "report/page/html.h"
#include "report/page/picture_html.h"
#include "report/profile/profile_report.h"

/* Puts the input and the output on the page, if they are files. */
static void put_pictures(FILE *file, const struct gf_command *command)
{
    struct gf_page_picture before =
                               gf_page_picture_make(command->input[0], NULL, &command->options),
                           after = gf_page_picture_make(command->output, NULL, &command->options);
    gf_pictures_html(file, &before, &after);
    gf_page_picture_free(&before);
    gf_page_picture_free(&after);
}

enum gf_status gf_profile_page_put(FILE *file, const void *context, struct gf_error *error)
{
    const struct gf_profile_page *const page = context;
    const struct gf_command *const command = page->command;
    char line[2 * GF_FILE_NAME_SIZE];
    snprintf(line, sizeof line, "%s to %s", command->input[0], command->output);
    gf_url_hide_all(line);
    gf_html_begin(file, command->chain ? command->chain : "no filter", line);
    const enum gf_status status =
        gf_profile_html(file, page->report, page->profile, "run", "", error);
    if (page->batch)
        gf_batch_html(file, page->batch, "batch", "The batch");
    else
        put_pictures(file, command);
    gf_html_end(file);
    return status;
}
