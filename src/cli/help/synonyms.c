#include "cli/help/help.h"

#include "base/suggest.h"

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
    {"stats", "info=statistics"},
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
    {"statistics", "info=statistics"},
    {"histogram", "info=statistics"},
    {"hist_plot", "info=statistics"},
    {"check", "info=statistics"},
    {"verify", "info=statistics"},
    {"validate", "info=statistics"},
    {"average", "info=statistics"},
    {"probe", "info"},
    {"metric", "compare"},
    {"psnr", "compare"},
    {"ssim", "compare"},
    {"diff", "compare=A B -o DIFFERENCES"},
    {"max-size", "max-bytes"},
    {"filesize", "max-bytes"},
    {"extent-size", "max-bytes"},
    {"q:v", "quality"},
    {"chroma-subsampling", "subsampling"},
    {"pix_fmt", "subsampling"},
    {"colorspace", "yuv"},
    {"color_range", "yuv"},
    {"newer-only", "update"},
    {"u", "update"},
    {"mogrify", "output"},
    {"colors", "png-palette"},
    {"colours", "png-palette"},
    {"palettegen", "png-palette"},
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
    {"gpu", "cuda"},
    {"nvidia", "cuda"},
    {"host", "cpu"},
    {"4:2:0", "420"},
    {"4:2:2", "422"},
    {"4:4:4", "444"},
    {"off", "none"},
    {"csv", "compare:csv"},
    {"md", "markdown"},
    {"plain", "lines"},
    {"all", "full"},
    {"stats", "statistics"},
    {"histogram", "statistics"},
};

/* Words, separated by blanks, that are no options here, and what to do instead. */
static const struct synonym notes[] = {
    {"y f force overwrite", "outputs that exist are replaced anyway"},
    {"in-place", "the folder of the inputs may be the output: -i 'photos/*.jpg' -o photos/"},
    {"auto-orient autorotate autorot", "pictures are turned upright by their EXIF anyway"},
    {"vf af filter:v filter_complex", "a chain needs no option: -i in.png -o out.png resize=w=400"},
    {"frames:v vframes pages page", "a number takes one picture of a file, two some frames of an "
                                    "animation: -i 'a.png[0]' or 'a.png[2..5]'"},
    {"frames each-frame animated",
     "{n} in an output's name writes each frame of an animation: -i a.png -o 'a-{n}.png'"},
    {"density dpi xres resolution units", "exiftool -XResolution=300 -YResolution=300 writes it"},
    {"min-size min-bytes larger-than",
     "a list chooses: find photos -size +1M | gpufilter -i @- -o small/ thumbnail=200"},
};

static const char *find(const struct synonym *synonym, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (gf_suggest_same(synonym[i].word, word))
            return synonym[i].meant;
    }
    return NULL;
}

const char *gf_option_synonym(const char *word)
{
    return find(option_synonyms, sizeof option_synonyms / sizeof *option_synonyms, word);
}

const char *gf_option_note(const char *word)
{
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (gf_suggest_listed(notes[i].word, word))
            return notes[i].meant;
    }
    return NULL;
}

const char *gf_value_synonym(const char *word)
{
    return find(value_synonyms, sizeof value_synonyms / sizeof *value_synonyms, word);
}
