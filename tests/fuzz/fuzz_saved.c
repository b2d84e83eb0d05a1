/* Reading saved reports: whatever the file holds, the page has the scripts of its parts and its
 * own, and no other <. */
#include "fuzz_file.h"

#include <stdlib.h>

#include "study/saved/saved.h"

static size_t count(const char *text, const char *end, const char *part)
{
    size_t found = 0;
    for (; (text = memmem(text, (size_t)(end - text), part, strlen(part))); text++)
        found++;
    return found;
}

/* Counts what the JSON of the parts could end or begin: there is one < for each part's end. The
 * parts are what the page is, the report, the labs' guides and their plots. */
static void check_page(const struct gf_saved *saved)
{
    static const char first[] = "<script type=\"application/json\">";
    struct gf_error error = {0};
    char *page = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&page, &size);
    FUZZ_CHECK(file && !gf_saved_page(file, saved, 1, &error) && !fclose(file), "%s", error.text);
    const char *const data = strstr(page, first), *const end = strstr(data, "<script>");
    const size_t parts = count(data, end, first);
    FUZZ_CHECK(parts == 4 && count(data, end, "<") == 2 * parts, "%zu parts", parts);
    free(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_saved saved;
    struct gf_error error = {0};
    if (!fuzz_ok(gf_saved_read(fuzz_path(data, size), &saved, &error), &error))
        return 0;
    check_page(&saved);
    gf_saved_free(&saved);
    return 0;
}
