/* The table of options, the names that other programs have for them, and the functions that write
 * an option for the help. */
#include <math.h>
#include <stdio.h>

#include "base/text/plain_text.h"
#include "batch/sheets/sheet.h"
#include "bench/hashes.h"
#include "cli/command/command.h"
#include "cli/help/topics.h"
#include "cli/study/study.h"
#include "codec/common/pyramid/pyramid.h"

/* The offset of the member of the command that an option sets. */
#define AT(member) offsetof(struct gf_command, member)
#define KI 1024.0

/* clang-format off */
static const struct gf_choice formats[] = {
#define GF_FORMAT_READ_WRITE(id, choice, ...) {choice, GF_FILE_##id},
#include "codec/common/formats.def"
    {"jpg", GF_FILE_JPEG}, {"ppm", GF_FILE_PNM}, {"pgm", GF_FILE_PNM}, {0},
};
static const struct gf_choice input_formats[] = {
#define GF_FORMAT_READ_WRITE(id, choice, ...) {choice, GF_FILE_##id},
#define GF_FORMAT_READ(id, choice, ...) {choice, GF_FILE_##id},
#include "codec/common/formats.def"
    {"jpg", GF_FILE_JPEG}, {"ppm", GF_FILE_PNM}, {"pgm", GF_FILE_PNM}, {"heif", GF_FILE_HEIC}, {0},
};
static const struct gf_choice items[] = {
#define GF_METADATA_ITEM(id, word, ...) {word, GF_METADATA_##id},
#include "codec/common/items.def"
    {0},
};
static const struct gf_choice subsamplings[] = {
    {"auto", GF_SUBSAMPLING_AUTO}, {"420", GF_SUBSAMPLING_420}, {"422", GF_SUBSAMPLING_422}, {"444", GF_SUBSAMPLING_444}, {0},
};
static const struct gf_choice jpeg_encoders[] = {
    {"libjpeg", GF_JPEG_LIBJPEG}, {"perceptual", GF_JPEG_PERCEPTUAL}, {0},
};
static const struct gf_choice tiff_compressions[] = {
    {"deflate", GF_TIFF_DEFLATE}, {"lzw", GF_TIFF_LZW}, {"none", GF_TIFF_NONE}, {"jpeg", GF_TIFF_JPEG}, {"zstd", GF_TIFF_ZSTD}, {"g4", GF_TIFF_G4}, {"webp", GF_TIFF_WEBP}, {0},
};
static const struct gf_choice depths[] = {{"auto", GF_DEPTH_AUTO}, {"1", 1}, {"8", 8}, {"10", 10}, {"12", 12}, {"16", 16}, {"16f", GF_DEPTH_FLOAT16}, {"32f", GF_DEPTH_FLOAT32}, {0}};
static const struct gf_choice gain_maps[] = {
    {"drop", GF_GAIN_MAP_DROP}, {"keep", GF_GAIN_MAP_KEEP}, {"apply", GF_GAIN_MAP_APPLY}, {0},
};
static const struct gf_choice yuv_items[] = {
    {"bt601", GF_YUV_ITEM_BT601}, {"bt709", GF_YUV_ITEM_BT709}, {"bt2020", GF_YUV_ITEM_BT2020},
    {"limited", GF_YUV_ITEM_LIMITED}, {"tv", GF_YUV_ITEM_LIMITED}, {"full", GF_YUV_ITEM_FULL}, {"pc", GF_YUV_ITEM_FULL}, {0},
};
static const struct gf_choice devices[] = {
    {"auto", GF_DEVICE_AUTO}, {"cpu", GF_DEVICE_CPU}, {"cuda", GF_DEVICE_CUDA}, {0},
};
static const struct gf_choice host_memories[] = {
    {"pinned", GF_HOST_PINNED}, {"pageable", GF_HOST_PAGEABLE}, {0},
};
static const struct gf_choice sandboxes[] = {
    {"auto", GF_SANDBOX_AUTO}, {"all", GF_SANDBOX_ALL}, {"off", GF_SANDBOX_OFF}, {0},
};
static const struct gf_choice codecs[] = {
    {"auto", GF_CODEC_AUTO}, {"cpu", GF_CODEC_CPU}, {"gpu", GF_CODEC_GPU}, {0},
};
static const struct gf_choice transfers[] = {
    {"copy", GF_TRANSFER_COPY}, {"zero-copy", GF_TRANSFER_ZERO_COPY}, {0},
};
static const struct gf_choice profiles[] = {
    {"table", GF_PROFILE_TABLE}, {"json", GF_PROFILE_JSON}, {"html" GF_CHOICE_FILE, GF_PROFILE_HTML},
    GF_STUDY({"compare", GF_PROFILE_COMPARE}, {"compare:json", GF_PROFILE_COMPARE_JSON},
    {"compare:html" GF_CHOICE_FILE, GF_PROFILE_COMPARE_HTML},) {0},
};
static const struct gf_choice lists[] = {
    {"text", GF_LIST_TEXT}, {"markdown", GF_LIST_MARKDOWN}, {0},
};
static const struct gf_choice extents[] = {
    {"small", GF_SELFTEST_SMALL}, {"full", GF_SELFTEST_FULL}, {0},
};
static const struct gf_choice device_forms[] = {
    {"measure", GF_DEVICES_MEASURE}, {"json", GF_DEVICES_JSON}, {0},
};
static const struct gf_choice serve_forms[] = {{"stop", GF_SERVE_STOP}, {0}};
static const struct gf_choice info_forms[] = {
    {"table", GF_INFO_TABLE}, {"json", GF_INFO_JSON}, {"hash", GF_INFO_HASH}, {"hash:table", GF_INFO_HASH_TABLE}, {"hash:json", GF_INFO_HASH_JSON},
    {"statistics", GF_INFO_STATISTICS}, {"statistics:table", GF_INFO_STATISTICS_TABLE}, {"statistics:json", GF_INFO_STATISTICS_JSON}, {0},
};
static const struct gf_choice server_uses[] = {
    {"auto", GF_SERVER_AUTO}, {"start", GF_SERVER_START}, {"off", GF_SERVER_OFF}, {0},
};
static const struct gf_choice failures[] = {
    {"drop", GF_ON_FAILURE_DROP}, {"drop-sample", GF_ON_FAILURE_DROP_SAMPLE}, {"keep", GF_ON_FAILURE_KEEP}, {0},
};
static const struct gf_choice progresses[] = {
    {"auto", GF_PROGRESS_AUTO}, {"bar", GF_PROGRESS_BAR}, {"lines", GF_PROGRESS_LINES},
    {"json", GF_PROGRESS_JSON}, {"none", GF_PROGRESS_NONE}, {0},
};
static const struct gf_choice shells[] = {
    {"bash", GF_SHELL_BASH}, {"zsh", GF_SHELL_ZSH}, {"fish", GF_SHELL_FISH}, {0},
};

static const struct gf_option options[] = {
#define GF_MEMBER(...)
#define GF_OPTION(member, type_, least_, greatest_, usual, scope, word, print, name_, ...) \
    {.name = name_, .type = GF_OPTION_##type_, .least = least_, .greatest = greatest_, .of_output = GF_OPTION_##scope, .offset = AT(options.member), __VA_ARGS__},
#define GF_COMMAND_OPTION(...) {__VA_ARGS__},
#define GF_STUDY_OPTION(...) GF_STUDY({__VA_ARGS__},)
#include "pipeline/options.def"
};
/* clang-format on */
enum { OPTION_COUNT = sizeof options / sizeof *options };

const struct gf_option *gf_option_at(int index)
{
    return index >= 0 && index < OPTION_COUNT ? &options[index] : NULL;
}

struct gf_options gf_command_options(void)
{
    struct gf_options usual = gf_options_default();
    usual.sandbox = GF_SANDBOX_AUTO;
    usual.sandbox_program = GF_OWN_PROGRAM;
    return usual;
}

void gf_command_default(struct gf_command *command)
{
    *command = (struct gf_command){.transfer_tries = GF_TRANSFER_TRIES};
    command->options = gf_command_options();
}

bool gf_option_takes_next(const struct gf_option *option)
{
    return option->optional &&
           (option->type == GF_OPTION_FILTER || option->type == GF_OPTION_WORDS);
}

/* Whether the choice at `index` is an alias: an earlier one has the same value. */
static bool is_alias(const struct gf_choice *choices, int index)
{
    for (int i = 0; i < index; i++) {
        if (choices[i].value == choices[index].value)
            return true;
    }
    return false;
}

void gf_option_number(double value, enum gf_option_type type, char *text, size_t size)
{
    const double base = type == GF_OPTION_SIZE ? KI : 1000;
    const char *const suffix[] = {"", type == GF_OPTION_SIZE ? "K" : "k", "M", "G", "T"};
    int step = 0;
    for (; gf_option_has_suffix(type) && step < 4 && value >= base && fmod(value, base) == 0;
         step++)
        value /= base;
    snprintf(text, size, "%.15g%s", value, suffix[step]);
}

void gf_option_choices(const struct gf_choice *choices, const char *separator, const char *more,
                       char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; choices[i].name && length < size; i++) {
        if (!is_alias(choices, i))
            length += (size_t)snprintf(text + length, size - length, "%s%s", i ? separator : "",
                                       choices[i].name);
    }
    if (length < size)
        snprintf(text + length, size - length, "%s", more);
}

void gf_option_usage(const struct gf_option *option, char *text, size_t size)
{
    char value[120] = "";
    if (option->argument)
        snprintf(value, sizeof value, "%s", option->argument);
    else if (option->choices)
        gf_option_choices(option->choices, "|", option->type == GF_OPTION_DEVICE ? "[:N]" : "",
                          value, sizeof value);
    const char *const open = !option->optional ? "=" : gf_option_takes_next(option) ? " [" : "[=";
    snprintf(text, size, "--%s%s%s%s", option->name, *value ? open : "", value,
             option->optional ? "]" : "");
}

void gf_option_limits(const struct gf_option *option, char *text, size_t size)
{
    struct gf_command defaults;
    const void *const member = (const char *)&defaults + option->offset;
    char least[32], greatest[32], value[32];
    text[0] = '\0';
    gf_command_default(&defaults);
    if (option->type == GF_OPTION_CHOICE && !option->action && !option->optional) {
        for (const struct gf_choice *choice = option->choices; choice->name; choice++) {
            if (choice->value == *(const int *)member) {
                snprintf(text, size, "default %s", choice->name);
                return;
            }
        }
    }
    if (!gf_option_is_number(option->type))
        return;
    gf_option_number(option->least, option->type, least, sizeof least);
    gf_option_number(option->greatest, option->type, greatest, sizeof greatest);
    const double number = option->type == GF_OPTION_INT      ? *(const int *)member
                          : option->type == GF_OPTION_NUMBER ? *(const double *)member
                                                             : (double)*(const uint64_t *)member;
    gf_option_number(number, option->type, value, sizeof value);
    const bool automatic = number == 0; /* 0: the run chooses the number */
    snprintf(text, size, "%s..%s%s%s", least, greatest, automatic ? "" : "; default ",
             automatic ? "" : value);
}

static const struct {
    const char *word, *meant;
} value_synonyms[] = {
    {"gpu", "cuda"},
    {"nvidia", "cuda"},
    {"host", "cpu"},
    {"4:2:0", "420"},
    {"4:2:2", "422"},
    {"4:4:4", "444"},
    {"off", "none"},
    {"csv", "compare:json"},
    {"compare:csv", "compare:json"},
    {"md", "markdown"},
    {"plain", "lines"},
    {"all", "full"},
    {"stats", "statistics"},
    {"histogram", "statistics"},
};

const char *gf_value_synonym(const char *word)
{
    for (size_t i = 0; i < sizeof value_synonyms / sizeof *value_synonyms; i++) {
        if (gf_suggest_same(value_synonyms[i].word, word))
            return value_synonyms[i].meant;
    }
    return NULL;
}
