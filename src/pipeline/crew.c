#include "pipeline/crew.h"

#include <stdlib.h>

#include "base/grow.h"

static void warn_in_turn(void *context, const char *text)
{
    struct gf_crew *const crew = context;
    const struct gf_options *const options = &crew->leader->options;
    pthread_mutex_lock(&crew->warning);
    if (options->warn)
        options->warn(options->warn_context, text);
    pthread_mutex_unlock(&crew->warning);
}

static bool add_member(struct gf_crew *crew)
{
    struct gf_options options = crew->leader->options;
    options.threads = 1;
    options.serial = true;
    options.warn = warn_in_turn;
    options.warn_context = crew;
    if (!GF_GROW(crew->member, crew->count) ||
        gf_pipeline_open(crew->leader->text, &options, &crew->member[crew->count], NULL))
        return false;
    crew->count++;
    return true;
}

int gf_pipeline_gather_crew(struct gf_pipeline *pipeline, int count)
{
    const struct gf_options *const options = &pipeline->options;
    if (options->serial || options->memory_bytes || options->device_memory_bytes ||
        pipeline->progress || count < 2)
        return 0;
    if (!pipeline->crew) {
        pipeline->crew = calloc(1, sizeof *pipeline->crew);
        if (!pipeline->crew)
            return 0;
        pipeline->crew->leader = pipeline;
        pthread_mutex_init(&pipeline->crew->warning, NULL);
    }
    while (pipeline->crew->count < count && add_member(pipeline->crew))
        continue;
    return pipeline->crew->count < count ? pipeline->crew->count : count;
}

struct gf_pipeline *gf_pipeline_of_crew(struct gf_pipeline *pipeline, int number)
{
    return pipeline->crew->member[number];
}
