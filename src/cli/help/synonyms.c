#include "cli/help/synonyms.h"

#include <string.h>

struct synonym {
    const char *word, *meant;
};

static const struct synonym option_synonyms[] = {
    {"jobs", "threads"},
    {"workers", "threads"},
    {"parallel", "threads"},
    {"cores", "threads"},
    {"cpus", "threads"},
    {"gpu", "device"},
    {"backend", "device"},
    {"compression", "png-level"},
    {"compression-level", "png-level"},
    {"level", "png-level"},
    {"filter", "chain-file"},
    {"script", "chain-file"},
    {"file", "input"},
    {"src", "input"},
    {"dst", "output"},
    {"dest", "output"},
    {"silent", "quiet"},
    {"simulate", "dry-run"},
    {"recurse", "recursive"},
    {"continue", "resume"},
    {"ignore-existing", "skip-existing"},
    {"noclobber", "no-clobber"},
    {"newer", "update"},
    {"benchmark", "profile"},
    {"stats", "info"},
    {"ram", "memory"},
    {"mem", "memory"},
    {"gpu-memory", "device-memory"},
    {"vram", "device-memory"},
    {"type", "format"},
    {"interlace", "progressive"},
    {"sampling-factor", "subsampling"},
    {"no-metadata", "strip"},
    {"fsync", "sync"},
    {"debug", "verbose"},
    {"manual", "man"},
    {"identify", "info"},
    {"header", "info"},
    {"metadata", "info"},
    {"exif", "info"},
    {"statistics", "info"},
    {"append", "join=down"},
    {"arrayjoin", "join=grid"},
    {"hstack", "join=across"},
    {"vstack", "join=down"},
    {"xstack", "join=grid"},
    {"collage", "join=grid"},
    {"sprites", "join=grid:places=FILE.css"},
    {"sprite", "join=grid:places=FILE.css"},
    {"concat", "join"},
    {"montage", "sheet"},
    {"contact-sheet", "sheet"},
};

static const struct synonym value_synonyms[] = {
    {"gpu", "cuda"},    {"nvidia", "cuda"}, {"host", "cpu"}, {"4:2:0", "420"},
    {"4:2:2", "422"},   {"4:4:4", "444"},   {"off", "none"}, {"csv", "compare:csv"},
    {"md", "markdown"}, {"plain", "lines"}, {"all", "full"},
};

static const char *find(const struct synonym *synonym, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(synonym[i].word, word))
            return synonym[i].meant;
    }
    return NULL;
}

const char *gf_option_synonym(const char *word)
{
    return find(option_synonyms, sizeof option_synonyms / sizeof *option_synonyms, word);
}

const char *gf_value_synonym(const char *word)
{
    return find(value_synonyms, sizeof value_synonyms / sizeof *value_synonyms, word);
}
