#include "chain/params.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text/plain_text.h"
#include "gpufilter/filter.h"

/* What the names of other programs mean here. `words` are such names, separated by blanks, or, with
 * a '=', a pattern for the whole item of the chain; `meaning` is a chain. */
static const struct {
    const char *words, *meaning;
} table[] = {
    /* size and shape */
    {"smartcrop attention", "resize=512:512:fit=cover"},
    {"gravity", "crop=512:512:gravity=centre"},
    {"crop=square", "crop=aspect=1"},
    {"crop=i[wh]*", "crop=aspect=1"},
    {"extract_area=*", "crop=w=300:h=200:x=50:y=40"},
    {"shave chop", "crop=96%:96%"},
    {"pad=square", "pad=aspect=1"},
    {"pad=*bottom=*", "pad=h=115%:gravity=north"},
    {"pad=*top=*", "pad=h=115%:gravity=south"},
    {"pad=i[wh]*", "border=20"},
    {"pad=*(o[wh]-i[wh])*", "pad=1000:700"},
    {"scale=i[wh]*", "resize=50%"},
    {"*=*:force_original_aspect_ratio=*", "resize=400:400:fit=inside"},
    {"*=*:withoutEnlargement*", "resize=400:400:fit=inside:only=shrink"},
    {"replicate repeat", "tile=300%:200%"},
    {"tile=*x*", "tile=300%:200%"},
    {"caption label", "pad=h=115%:gravity=north,text=Hello:gravity=south:y=3%:colour=black"},
    {"polaroid", "border=4%,pad=h=115%:gravity=north,frame=1:gray,rotate=-5:colour=transparent"},
    /* turning */
    {"rot90 rotate90", "rotate=90"},
    {"rot180 rotate180", "rotate=180"},
    {"rot270 rotate270", "rotate=270"},
    {"rot=d90", "rotate=90"},
    {"rot=d180", "rotate=180"},
    {"rot=d270", "rotate=270"},
    {"transpose=clock", "rotate=90"},
    {"transpose=1", "rotate=90"},
    {"transpose=cclock", "rotate=270"},
    {"transpose=2", "rotate=270"},
    {"rotate=*PI*", "rotate=3.5"},
    {"flip=h*", "hflip"},
    {"flip=v*", "vflip"},
    /* tones and colours */
    {"sepia sepiatone", "colormatrix=sepia"},
    {"monochrome", "threshold=otsu"},
    {"level", "levels=10%:90%"},
    {"sigmoidalcontrast", "curves=contrast"},
    {"brightnesscontrast linear", "brightness=10%,contrast=1.2"},
    {"eq", "brightness=10%,contrast=1.2,saturation=1.3,gamma=1.1"},
    {"modulate", "brightness=10%,saturation=1.3,hue=30"},
    {"hue=s=*", "saturation=0"},
    {"type=*", "grayscale"},
    {"colorspace=gr*", "grayscale"},
    {"colourspace=b-w", "grayscale"},
    {"format=gray*", "grayscale"},
    {"profile=*", "icc=srgb"},
    {"vignette=PI*", "vignette=0.6"},
    {"vignette=*x*", "vignette=0.6"},
    {"clahe=*x*", "clahe=3:8:8"},
    {"clahe=width=*", "clahe=3:8:8"},
    {"unsharp=*x*+*", "unsharp=1:0.8"},
    {"canny=*x*", "canny=50:150"},
    {"charcoal sketch pencil", "blur=1,canny=20:60,invert"},
    {"paint oilpaint", "median=6"},
    /* transparency */
    {"alpha=remove", "flatten=white"},
    {"alpha=off", "flatten=none"},
    {"alpha=extract", "grayscale=alpha"},
    {"alphaextract", "grayscale=alpha"},
    {"extract*Channel=[aA3]*", "grayscale=alpha"},
    {"extract_band=3", "grayscale=alpha"},
    {"channel=[aA]*", "grayscale=alpha"},
    {"extractchannel extract_band channel separate extractplanes", "grayscale=red"},
    {"removealpha", "flatten=none"},
    {"opaque replacecolor replacecolour", "chromakey=red:0.1:0.05,flatten=blue"},
    /* several pictures, shapes and texts */
    {"watermark logo", "overlay=logo.png:southeast:scale=20%"},
    {"overlay=*:[Wm]*-*", "overlay=logo.png:southeast:x=10:y=10"},
    {"difference subtract", "overlay=other.png:mode=difference"},
    {"draw drawrect drawbox rectangle fill", "duotone=red:red:region=100 80 200 150"},
    {"drawtext annotate", "text=Hello:size=30:gravity=northwest:x=10:y=10"},
};

const char *gf_foreign_meaning_at(int index)
{
    return index < (int)(sizeof table / sizeof *table) ? table[index].meaning : NULL;
}

const char *gf_foreign_meaning(const char *chain)
{
    char item[200], name[48];
    chain += strspn(chain, " \t\n");
    snprintf(item, sizeof item, "%.*s", (int)strcspn(chain, ","), chain);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(item, " =:"), item);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strchr(table[i].words, '=') ? !fnmatch(table[i].words, item, 0)
                                        : gf_suggest_listed(table[i].words, name))
            return table[i].meaning;
    }
    return NULL;
}

static bool has_param(const struct gf_filter *filter, const char *name)
{
    const struct gf_param *param = gf_filter_params(filter);
    while (param->name && strcmp(param->name, name) != 0)
        param++;
    return param->name != NULL;
}

/* Writes the numbers of a geometry with colons between them. The text may end with one of the
 * characters `flags`. Returns false if it is no geometry. */
static bool take_apart(const char *text, const char *flags, char *values, size_t size)
{
    const size_t length = strspn(text, "0123456789.%xX+");
    if (!strpbrk(text, "xX") || length >= size || (text[length] && !strchr(flags, text[length])) ||
        (text[length] && text[length + 1]))
        return false;
    for (size_t i = 0; i < length; i++)
        values[i] = strchr("xX+", text[i]) ? ':' : text[i];
    values[length] = '\0';
    return true;
}

int gf_geometry_lengths(const struct gf_filter *filter, const char *text, char *values, size_t size)
{
    const bool suits = has_param(filter, "gravity") && gf_filter_params(filter)[1].name &&
                       !strcmp(gf_filter_params(filter)->name, "w") && !has_param(filter, "kernel");
    const int lengths = 2 + 2 * has_param(filter, "x");
    int numbers = 1;
    if (!suits || !take_apart(text, "", values, size) || *values == ':' ||
        values[strlen(values) - 1] == ':')
        return 0;
    for (const char *at = values; *at; at++)
        numbers += *at == ':';
    return numbers <= lengths ? lengths : 0;
}

bool gf_geometry_meaning(const struct gf_filter *filter, const char *text, char *meaning,
                         size_t size)
{
    char values[60];
    if (!take_apart(text, "!><^", values, sizeof values) || !strcmp(values, ":"))
        return false;
    const size_t length = strlen(values);
    const char flag = text[length];
    const bool has_fit = has_param(filter, "fit"), only = has_param(filter, "only");
    const bool one_side = *values == ':' || values[length - 1] == ':';
    const bool offsets = strchr(strchr(values, ':') + 1, ':');
    /* No chain of the filter means the same. */
    if (has_param(filter, "h") ? offsets && (one_side || !has_param(filter, "x")) : *values == ':')
        return false;
    /* The filter thumbnail always shrinks, within a width and a height, so that resize does the
     * rest. */
    const bool other = has_fit && !only && (one_side || flag == '!' || flag == '<');
    const char *const name = other ? "resize" : filter->name;
    const char *const fit = !has_fit || flag == '!' || (flag == '>' && !only) ? ""
                            : flag == '^'                                     ? ":fit=cover"
                            : flag == '>' ? ":fit=inside:only=shrink"
                            : flag == '<' ? ":fit=inside:only=enlarge"
                                          : ":fit=inside";
    if (!has_param(filter, "h"))
        snprintf(meaning, size, "%s=%.*s", name, (int)strcspn(values, ":"), values);
    else if (*values == ':')
        snprintf(meaning, size, "%s=h=%s", name, values + 1);
    else if (values[length - 1] == ':')
        snprintf(meaning, size, "%s=w=%.*s", name, (int)length - 1, values);
    else
        snprintf(meaning, size, "%s=%s%s", name, values, fit);
    return true;
}
