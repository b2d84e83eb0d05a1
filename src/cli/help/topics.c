/* The list of topics. Their texts are the files of the folder topics. */
#include "cli/help/topics.h"

#include <stddef.h>
#include <string.h>

#include "base/process/program.h"
#include "cli/study/study.h"

GF_EMBED(topic_chains, "src/cli/help/topics/chains.txt");
GF_EMBED(topic_batches, "src/cli/help/topics/batches.txt");
GF_EMBED(topic_archives, "src/cli/help/topics/archives.txt");
GF_EMBED(topic_transfers, "src/cli/help/topics/transfers.txt");
GF_EMBED(topic_formats, "src/cli/help/topics/formats.txt");
GF_EMBED(topic_colours, "src/cli/help/topics/colours.txt");
GF_EMBED(topic_limits, "src/cli/help/topics/limits.txt");
GF_EMBED(topic_server, "src/cli/help/topics/server.txt");
GF_EMBED(topic_reports, "src/cli/help/topics/reports.txt");

static const struct gf_topic topics[] = {
    {"chains", "how chains are written, regions, and what is fused", gf_topic_chains},
    {"batches", "many pictures: names, logs, parts, several outputs, sheets", gf_topic_batches},
    {"archives", "tar archives as inputs and outputs, and their records", gf_topic_archives},
    {"transfers", "commands that fetch inputs and store outputs", gf_topic_transfers},
    {"formats", "what is read and written, depths, films, complete files", gf_topic_formats},
    {"colours", "ICC profiles, CMYK, HDR, alpha, metadata", gf_topic_colours},
    {"limits", "memory, pictures of strangers, damaged files", gf_topic_limits},
    {"server", "a process that keeps the GPU awake", gf_topic_server},
    {"reports", "profiles, and the keys of JSON", gf_topic_reports},
    GF_STUDY({"study", "variants of the CUDA kernels, their comparison, labs", NULL}, )};

const struct gf_topic *gf_topic_at(int index)
{
    return index >= 0 && index < (int)(sizeof topics / sizeof *topics) ? &topics[index] : NULL;
}

const char *gf_topic_name(int index)
{
    const struct gf_topic *const topic = gf_topic_at(index);
    return topic ? topic->name : NULL;
}

const struct gf_topic *gf_topic_find(const char *name)
{
    const struct gf_topic *topic;
    for (int i = 0; (topic = gf_topic_at(i)); i++) {
        if (!strcmp(topic->name, name))
            return topic;
    }
    return NULL;
}
