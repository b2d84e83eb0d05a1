#include "codec/io/said.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static void warn_once(void *context, const char *text)
{
    struct gf_said *const said = context;
    const uint64_t line = gf_hash(GF_HASH_START, text, strlen(text));
    bool again = false;
    pthread_mutex_lock(&said->lock);
    for (unsigned i = 0; i < said->count && i < GF_SAID_MOST; i++)
        again |= said->line[i] == line;
    again |= said->count > GF_SAID_MOST;
    if (!again && said->count < GF_SAID_MOST)
        said->line[said->count] = line;
    said->count += !again;
    const bool last = said->count > GF_SAID_MOST;
    pthread_mutex_unlock(&said->lock);
    if (again)
        return;
    char more[300];
    snprintf(more, sizeof more, "%.250s: further warnings are left out", said->name);
    said->warn(said->context, last ? more : text);
}

const struct gf_options *gf_said_begin(struct gf_said *said, const char *name,
                                       const struct gf_options *options)
{
    *said = (struct gf_said){.options = *options,
                             .name = name,
                             .warn = options->warn,
                             .context = options->warn_context,
                             .lock = PTHREAD_MUTEX_INITIALIZER};
    if (options->warn) {
        said->options.warn = warn_once;
        said->options.warn_context = said;
    }
    return &said->options;
}
