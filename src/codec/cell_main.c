/* The process of cells for one format. */
#include <string.h>

#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "codec/formats.h"

static const struct gf_file_type *own;

/* Lets the format's reader fail at a file of nothing but the format's first bytes, so that the
 * libraries load their plug-ins and ask the system what they ask once. A library that cannot be
 * loaded now is no cell's missing one. */
static enum gf_status warm(struct gf_error *error)
{
    unsigned char file[64] = {0};
    const struct gf_magic magic = own->magic[0];
    const struct gf_options options = {.size = sizeof options, .max_pixels = 1, .threads = 1};
    struct gf_input *input;
    struct gf_source *source = NULL;
    if (own->library &&
        gf_library_load(own->library, own->name, GF_ERROR_LIBRARY, error) == GF_ERROR_MEMORY)
        return GF_ERROR_MEMORY;
    memcpy(file + magic.offset, magic.bytes, magic.length);
    if (gf_input_open_memory(file, sizeof file, own->name, &input, NULL))
        return GF_OK;
    if (!gf_source_open(input, &options, &source, NULL))
        source->close(source);
    gf_input_close(input);
    return GF_OK;
}

int gf_cell_main(const char *word)
{
    for (int i = 0; (own = gf_file_type_at(i)) && strcmp(own->choice, word) != 0; i++)
        ;
    return gf_cell_serve(own && !own->one_thread, own && own->magic[0].length ? warm : NULL,
                         gf_source_open);
}
