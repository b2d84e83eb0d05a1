/* Reading saved reports: whatever the file holds, the page has one script, its own, and what was
 * read can be written and read again as the same. */
#include "fuzz_file.h"

#include <stdlib.h>

#include "study/report/study_report.h"
#include "study/saved/saved.h"

static void check_page(const struct gf_saved *saved)
{
    struct gf_error error = {0};
    char *page = NULL;
    size_t size = 0, scripts = 0;
    FILE *const file = open_memstream(&page, &size);
    FUZZ_CHECK(file && !gf_saved_html(file, saved, 1, &error) && !fclose(file), "%s", error.text);
    for (const char *at = page; (at = strstr(at, "<script")); at++)
        scripts++;
    FUZZ_CHECK(scripts == 1 && strlen(page) == size, "%zu scripts", scripts);
    free(page);
}

static char *json_of(const struct gf_saved *saved, size_t *size)
{
    char *text = NULL;
    FILE *const file = open_memstream(&text, size);
    FUZZ_CHECK(file, "no memory");
    if (saved->kind == GF_SAVED_RUN)
        gf_profile_report_json(&saved->report, &saved->profile, file);
    else if (saved->kind == GF_SAVED_COMPARISON)
        gf_compare_json(&saved->comparison, file);
    else if (saved->labs)
        gf_lab_json(file, saved->lab[0].lab, saved->lab[0].result);
    FUZZ_CHECK(!fclose(file), "no memory");
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_saved saved, again;
    struct gf_error error = {0};
    if (!fuzz_ok(gf_saved_read(fuzz_path(data, size), &saved, &error), &error))
        return 0;
    check_page(&saved);
    size_t once_size = 0;
    char *const once = json_of(&saved, &once_size);
    if (once_size)
        FUZZ_CHECK(!gf_saved_read(fuzz_path(once, once_size), &again, &error), "%s: %s", error.text,
                   once);
    if (once_size)
        gf_saved_free(&again);
    gf_saved_free(&saved);
    free(once);
    return 0;
}
