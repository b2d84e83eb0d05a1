#include "batch/names/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "batch/names/search.h"

bool gf_input_named_is_stream(const char *path)
{
    struct stat file;
    return !strcmp(path, "-") ||
           (!stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
}

bool gf_inputs_is_group(const char *argument)
{
    return (argument[0] == '@' && argument[1]) || gf_search_is_pattern(argument) ||
           gf_search_is_folder(argument);
}

enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error)
{
    struct gf_search search = {
        .request = request,
        .inputs = inputs,
        .error = error,
        .parts = {.part = request->shard, .parts = request->shards, .list = GF_HASH_START}};
    enum gf_status status = GF_OK;
    *inputs = (struct gf_inputs){0};
    for (int i = 0; !status && i < request->count; i++) {
        const char *const argument = request->argument[i];
        if (argument[0] == '@' && argument[1])
            status = gf_search_list(&search, argument + 1);
        else if (!strcmp(argument, "-"))
            status = gf_search_add(&search, strdup(argument), 0);
        else if (gf_search_is_pattern(argument))
            status = gf_search_pattern(&search, argument);
        else
            status = gf_search_path(&search, argument);
        if (!status)
            status = gf_search_select_own(&search);
    }
    gf_parts_free(&search.parts);
    inputs->list = request->shards ? search.parts.list : 0;
    if (request->left_out)
        gf_search_sort(request->left_out, 0);
    if (status)
        gf_inputs_free(inputs);
    return status;
}

void gf_inputs_free(struct gf_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        gf_search_free_name(&inputs->item[i]);
    free(inputs->item);
    free(inputs->mixed);
    *inputs = (struct gf_inputs){0};
}
