/* The command line: its parser, and the help, manual and completion that derive from the tables.
 * Also the profile's arithmetic and forms, and the progress of a batch. */
#include "needs_study.h"
#include "printed.h"

#include <math.h>

#include "base/process/program.h"
#include "batch/batch.h"
#include "batch/request/request.h"
#include "bench/hashes.h"
#include "cli/command/command.h"
#include "cli/help/help.h"
#include "cli/cli.h"
#include "cli/study/study.h"
#include "report/profile/profile_report.h"
#include "report/text.h"

enum { ARGUMENTS_MAX = 280 };

/* Splits the line at spaces, so that tests read like command lines. '' is an empty argument. */
static enum gf_status parse(const char *line, struct gf_command *command, struct gf_error *error)
{
    static char text[2000]; /* the command keeps pointers to it */
    char *argv[ARGUMENTS_MAX] = {"gpufilter"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < ARGUMENTS_MAX; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") ? word : "";
    *error = (struct gf_error){0};
    return gf_command_parse(argc, argv, command, error);
}

static struct gf_command parsed(const char *line)
{
    struct gf_command command;
    struct gf_error error;
    if (parse(line, &command, &error))
        fail_msg("%s: %s", line, error.text);
    return command;
}

static void assert_refused(const char *line, const char *message)
{
    struct gf_command command;
    struct gf_error error;
    if (!parse(line, &command, &error))
        fail_msg("accepted: %s", line);
    assert_int_equal(error.status, GF_ERROR_USAGE);
    assert_string_equal(error.text, message);
}

static void test_files_and_chain(void **state)
{
    static const char *const lines[] = {
        "-i a.png -o b.png blur",
        "blur -i a.png -o b.png",
        "-ia.png -ob.png -- blur",
        "--input=a.png --output=b.png blur",
        "--input a.png blur --output b.png",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct gf_command command = parsed(lines[i]);
        assert_int_equal(command.action, GF_ACTION_FILTER);
        assert_string_equal(command.input[0], "a.png");
        assert_string_equal(command.output, "b.png");
        assert_string_equal(command.chain, "blur");
    }
    assert_null(parsed("-i a -o b").chain);
    assert_int_equal(parsed("-i a -o b").server, GF_SERVER_AUTO);
    assert_int_equal(parsed("-i a -o b --server=start --idle=7").server, GF_SERVER_START);
    assert_int_equal(parsed("-i a -o b --server=start --idle=7").idle_s, 7);
    assert_int_equal(parsed("--serve").action, GF_ACTION_SERVE);
    assert_int_equal(parsed("--serve=stop").form, GF_SERVE_STOP);
    assert_string_equal(parsed("-i - -o -").input[0], "-");
    assert_string_equal(parsed("-i a -o b -- -v").chain, "-v");
    assert_string_equal(parsed("-i a -o b -").chain, "-");
}

static void test_values(void **state)
{
    const struct gf_command command = parsed(
        "-i a -o b --quality 77 --png-level=9 --subsampling=444 --format=jpg --progressive --strip "
        "--no-autorotate --allow-truncated --lanes=3 -vq");
    assert_int_equal(command.options.quality, 77);
    assert_int_equal(command.options.png_level, 9);
    assert_int_equal(command.options.subsampling, GF_SUBSAMPLING_444);
    assert_int_equal(command.options.format, GF_FILE_JPEG);
    assert_true(command.options.progressive);
    assert_int_equal(command.options.stripped, (1 << GF_METADATA_ITEMS) - 1);
    assert_false(command.options.autorotate);
    assert_true(command.options.allow_truncated);
    assert_int_equal(command.options.lanes, 3);
    assert_true(command.verbose);
    assert_true(command.quiet);
    assert_int_equal(parsed("-i a -o b --quality=1 --quality=2").options.quality, 2);
    const struct gf_options given = parsed("-i a -o b --range=-1.5:2e3 --depth=16").options;
    assert_true(given.range_low == -1.5 && given.range_high == 2000 && given.depth == 16);
    assert_true(parsed("-i a -o b --range=percentile").options.range_percentile);
    assert_true(parsed("-i a -o b --range=1:2 --range=unit").options.range_high == 0);
    assert_int_equal(parsed("-i a -o b --strip=all").options.stripped,
                     (1 << GF_METADATA_ITEMS) - 1);
    assert_int_equal(parsed("-i a -o b --strip=exif,gps").options.stripped,
                     1 << GF_METADATA_EXIF | 1 << GF_METADATA_GPS);
    assert_int_equal(parsed("-i a -o b --keep icc").options.kept, 1 << GF_METADATA_ICC);
}

/* Of several outputs each has what stands behind it, and else what stands before the first. */
static void test_outputs(void **state)
{
    struct gf_command command = parsed(
        "--quality=70 --strip sobel --to-icc=srgb -i a -o b --quality=80 --threads=3 blur -o c "
        "--lossless --to-icc=display-p3 -o d --format=jpg --png-level=5 invert");
    struct gf_error error;
    assert_int_equal(gf_command_outputs(&command), 3);
    assert_int_equal(gf_command_join_chains(&command, &error), GF_OK);
    static const struct {
        const char *output, *chain;
        int quality, png_level;
        bool lossless;
        enum gf_file_format format;
    } expected[] = {
        {"b", "sobel,blur,icc=srgb", 80, 1, false, GF_FILE_AUTO},
        {"c", "sobel,icc=display-p3", 70, 1, true, GF_FILE_AUTO},
        {"d", "sobel,invert,icc=srgb", 70, 5, false, GF_FILE_JPEG},
    };
    for (int i = 0; i < 3; i++) {
        const struct gf_command_output output = gf_command_output_at(&command, i);
        assert_string_equal(output.output, expected[i].output);
        assert_string_equal(output.chain, expected[i].chain);
        assert_int_equal(output.options.quality, expected[i].quality);
        assert_int_equal(output.options.png_level, expected[i].png_level);
        assert_int_equal(output.options.lossless, expected[i].lossless);
        assert_int_equal(output.options.format, expected[i].format);
        assert_true(output.options.stripped);
    }
    assert_int_equal(command.options.threads, 3);
    gf_command_free(&command);
    command = parsed("-i a --quality=70 -o b --quality=80 blur");
    assert_int_equal(gf_command_outputs(&command), 1);
    assert_int_equal(command.options.quality, 80);
}

/* An option that the table gives to an output is one that an output has for itself. */
static void test_options_of_outputs(void **state)
{
    const struct gf_option *option;
    int found = 0;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        const bool in_options = option->offset >= offsetof(struct gf_command, options);
        struct gf_command from = {0}, to = {0};
        if (!in_options)
            continue;
        *((unsigned char *)&from + option->offset) = 1;
        gf_options_of_output(&to.options, &from.options);
        assert_int_equal(*((unsigned char *)&to + option->offset), option->of_output);
        found += option->of_output;
    }
    assert_int_equal(found, 20);
}

static void test_sizes(void **state)
{
    assert_true(parsed("-i a -o b --memory=512M").options.memory_bytes == 512ull << 20);
    assert_true(parsed("-i a -o b --memory=1.5g").options.memory_bytes == 1536ull << 20);
    assert_true(parsed("-i a -o b --memory 2GiB").options.memory_bytes == 2ull << 30);
    assert_true(parsed("-i a -o b --memory=1048576").options.memory_bytes == 1ull << 20);
    assert_true(parsed("-i a -o b --device-memory=64MB").options.device_memory_bytes == 64ull
                                                                                            << 20);
    assert_true(parsed("-i a -o b --max-pixels=2k").options.max_pixels == 2000);
    assert_true(parsed("-i a -o b --max-pixels=1.5M").options.max_pixels == 1500000);
    assert_true(parsed("-i a -o b").options.max_pixels == 1000000000);
}

static void test_device(void **state)
{
    assert_int_equal(parsed("-i a -o b").options.device, GF_DEVICE_AUTO);
    assert_int_equal(parsed("-i a -o b --device=cpu").options.device, GF_DEVICE_CPU);
    assert_int_equal(parsed("-i a -o b --device=cuda").options.device_index, 0);
    const struct gf_command command = parsed("-i a -o b --device cuda:3");
    assert_int_equal(command.options.device, GF_DEVICE_CUDA);
    assert_int_equal(command.options.device_index, 3);
    assert_int_equal(parsed("-i a -o b --device=cuda:3 --device=cuda").options.device_index, 0);
}

static void test_actions(void **state)
{
    needs_study();
    assert_int_equal(parsed("--help").action, GF_ACTION_HELP);
    assert_null(parsed("--help").topic);
    assert_string_equal(gf_filter_name(parsed("--help blur").topic), "blur");
    assert_string_equal(gf_filter_name(parsed("-h blur").topic), "blur");
    assert_string_equal(gf_filter_name(parsed("--help=flop").topic), "hflip");
    assert_null(parsed("--help blur").subject);
    assert_string_equal(parsed("--help=study").subject->name, "study");
    assert_string_equal(parsed("--help=study blur").chain, "blur");
    assert_string_equal(parsed("--help study blur").chain, "blur");
    assert_null(parsed("--help -v").topic);
    assert_int_equal(parsed("-i a --help").action, GF_ACTION_HELP);
    assert_int_equal(parsed("--list").form, GF_LIST_TEXT);
    assert_int_equal(parsed("--list=markdown").form, GF_LIST_MARKDOWN);
    assert_int_equal(parsed("--selftest").form, GF_SELFTEST_FULL);
    assert_int_equal(parsed("--selftest=small").form, GF_SELFTEST_SMALL);
    assert_int_equal(parsed("--devices").action, GF_ACTION_DEVICES);
    assert_int_equal(parsed("-V").action, GF_ACTION_VERSION);
    assert_int_equal(parsed("--man").action, GF_ACTION_MAN);
    assert_int_equal(parsed("--completion=bash").action, GF_ACTION_COMPLETION);
    assert_int_equal(parsed("-i a -o b").profile, GF_PROFILE_OFF);
    assert_int_equal(parsed("-i a -o b --profile").profile, GF_PROFILE_TABLE);
    assert_int_equal(parsed("-i a -o b --profile=json").profile, GF_PROFILE_JSON);
    assert_string_equal(parsed("-i a -o b --profile blur").chain, "blur");
    assert_int_equal(parsed("-i a --profile=compare blur").profile, GF_PROFILE_COMPARE);
    assert_int_equal(parsed("-i a --profile=compare:json").profile, GF_PROFILE_COMPARE_JSON);
    assert_string_equal(parsed("-i a -o b --profile=compare").output, "b");
    assert_int_equal(parsed("--info -i a").form, GF_INFO_TABLE);
    assert_int_equal(parsed("-i a --info=statistics blur").action, GF_ACTION_INFO);
    assert_string_equal(parsed("--info=json /dev/null").input[0], "/dev/null");
    assert_int_equal(parsed("--duplicates -i a").action, GF_ACTION_INFO);
    assert_int_equal(parsed("--duplicates -i a").distance, GF_ALIKE_USUAL);
    assert_int_equal(parsed("--duplicates=3 --info=json /dev/null").distance, 3);
    assert_int_equal(parsed("--duplicates=3 --info=json /dev/null").form, GF_INFO_JSON);
    assert_string_equal(parsed("--compare=a:min-ssim=0.9 b").likeness, "a:min-ssim=0.9");
    assert_string_equal(parsed("--compare=a b").input[0], "b");
    assert_int_equal(parsed("--explain -i a blur").action, GF_ACTION_EXPLAIN);
    assert_string_equal(parsed("--explain -i a blur").chain, "blur");
}

static void test_refusals(void **state)
{
    needs_study();
    assert_refused("", "-i FILE is missing: the picture to read (--help explains)");
    assert_refused("-i a blur", "-o FILE is missing: the picture to write");
    assert_refused("-i a -i b", "-o FILE is missing: the picture to write");
    assert_refused("-i a blur -o b invert",
                   "two chains, 'blur' and 'invert': filters are joined by "
                   "commas, files named by -i and -o");
    assert_refused("-i a -o b blur invert -o c",
                   "two chains, 'blur' and 'invert': filters are joined "
                   "by commas, files named by -i and -o");
    assert_refused("-i a -o b --chain-file=x --chain-file=y -o c",
                   "--chain-file is given twice: 'x' and 'y'");
    assert_refused("-i a -o b -o c blur --chain-file=x", "two chains: 'blur', and --chain-file");
    assert_refused("-i a -o b -o c --log=c", "the log and --output are the same file");
    assert_refused("--info", "--info: -i FILE is missing: the picture to read");
    assert_refused("--info -i a -o b", "--info writes no picture: '-o b'");
    assert_refused("--duplicates -i a -o b", "--duplicates writes no picture: '-o b'");
    assert_refused("--duplicates --info=hash -i a",
                   "--duplicates prints groups, as JSON with --info=json; --info=hash is another "
                   "report");
    assert_refused("--info -i a blur",
                   "--info: 'blur' is no file, and only --info=statistics takes a chain");
    assert_refused("-i a -o b -o c --profile=compare blur",
                   "--profile=compare works on one output, not on 2");
    char many[2000] = "-i a";
    for (size_t i = 0; i <= 128; i++)
        snprintf(many + 4 + 5 * i, 6, " -o %c", (int)('a' + i % 26));
    assert_refused(many, "--output is given more than 128 times");
    assert_refused("-i a --profile=json blur", "-o FILE is missing: the picture to write");
    assert_refused("--profile=compare blur",
                   "-i FILE is missing: the picture to read (--help explains)");
    assert_refused("--explain blur", "-i FILE is missing: the picture to read (--help explains)");
    assert_refused("--explain=yes -i a", "--explain takes no value");
    assert_refused("-i a --profile=compare:xml",
                   "--profile=compare:xml is none of table, json, "
                   "html:FILE, compare, compare:json, compare:html:FILE");
    assert_refused("-i a --profile=compare:csv", "--profile=compare:csv is none of table, json, "
                                                 "html:FILE, compare, compare:json, "
                                                 "compare:html:FILE; did you mean 'compare:json'?");
    assert_refused("-i a --profile=compare --trace=t",
                   "--trace needs a run that writes a picture: -o FILE is missing");
    assert_refused("-i a -i b --explain",
                   "--explain and --profile=compare work on one picture, not on 2");
    assert_refused("-i @a --explain", "--explain and --profile=compare work on one picture, not on "
                                      "a folder, a pattern or a list: '@a'");
    assert_refused("-i no/*.png -o b --profile=compare",
                   "--explain and --profile=compare work on one picture, not on a folder, a "
                   "pattern or a list: "
                   "'no/*.png'");
    assert_refused("-i / --profile=compare", "--explain and --profile=compare work on one picture, "
                                             "not on a folder, a pattern or a list: '/'");
    assert_refused("-i a --explain --device=cuda:0,1",
                   "--explain and --profile=compare work on one GPU, not on several");
    assert_refused("-i a --profile=compare --device=cuda:all",
                   "--explain and --profile=compare work on one GPU, not on several");
    assert_refused(
        "-i a -o a --profile=compare",
        "--profile=compare with -o reads the picture twice, so that -o must be another file");
    assert_refused("--devices measure", "--devices takes no chain: 'measure'");
    assert_refused("--list blur", "--list takes no chain: 'blur'");
    assert_refused("--lab=offset blur", "--lab takes no chain: 'blur'");
    assert_refused(
        "-i - -o b --profile=compare",
        "--profile=compare with -o reads the picture twice, which standard input does not allow");
    assert_refused("-i '' -o b", "--input: the name of the file is empty");
    assert_refused("-i a -o", "--output needs a value: --output=FILE");
    assert_refused("-i -o b", "--input needs a value: --input=FILE");
    assert_refused("--qualty=9", "unknown option '--qualty=9'; did you mean '--quality=9'?");
    assert_refused("--prog", "unknown option '--prog'; did you mean '--progressive'?");
    assert_refused("-format=png", "unknown option '-format=png'; did you mean '--format=png'?");
    assert_refused("--range=3", "--range=3 is none of MIN:MAX, percentile, unit");
    assert_refused("--range=3:2", "--range=3:2: 3 is not below 2");
    assert_refused("--jobs=3",
                   "unknown option '--jobs=3' (make, xargs); did you mean '--threads=3'?");
    assert_refused("--device=gpu -i a",
                   "--device=gpu is none of auto, cpu, cuda, cuda:N; did you mean 'cuda'?");
    assert_refused("--subsampling=4:2:0",
                   "--subsampling=4:2:0 is none of auto, 420, 422, 444; did you mean '420'?");
    assert_refused("--keep", "--keep needs a value: --keep=LIST");
    assert_refused("--resize=50%", "unknown option '--resize=50%'; resize is a filter, written "
                                   "without dashes: resize=50%");
    assert_refused(
        "-rotate 90",
        "unknown option '-rotate'; rotate is a filter, written without dashes: rotate=90");
    assert_refused("-negate", "unknown option '-negate'; negate is a filter, written without "
                              "dashes: negate");
    assert_refused("-sepia-tone 80%",
                   "unknown option '-sepia-tone' (ImageMagick); did you mean 'colormatrix=sepia'?");
    assert_refused("--info=stats a",
                   "--info=stats is none of table, json, hash, hash:table, "
                   "hash:json, statistics, statistics:table, statistics:json; did you "
                   "mean 'statistics'?");
    assert_refused("-y -i a -o b",
                   "unknown option '-y' (FFmpeg): outputs that exist are replaced anyway");
    assert_refused(
        "--auto_orient",
        "unknown option '--auto_orient' (ImageMagick, vips, jhead, exiftran): pictures "
        "are turned upright by their EXIF anyway, JPEGs without loss by --lossless=trim");
    assert_refused("--maxSize=5", "unknown option '--maxSize=5'; did you mean '--max-bytes=5'?");
    assert_refused("-i a -i b -o c hstack",
                   "'hstack' is no filter (FFmpeg); did you mean '--join=across'?");
    assert_refused("-i a -i b -o c +append",
                   "'+append' is no filter (ImageMagick); did you mean '--join=across'?");
    assert_refused("-i a -o b blur,auto-orient",
                   "'auto-orient' is no filter (ImageMagick, vips, jhead, exiftran): pictures are "
                   "turned upright by their EXIF anyway, JPEGs without loss by --lossless=trim");
    assert_refused("-i a -o b --resume blur=2", "--resume needs a file, and 'blur=2' is a chain");
    assert_refused("-i a -o b blur,strip", "'strip' is an option, not a filter: --strip");
    assert_refused("-i a -o b text='a,strip',quality=3",
                   "'quality' is an option, not a filter: --quality");
    assert_refused("-i a -o b -q 80",
                   "-q takes no value, and '80' is no filter; did you mean --quality=80");
    assert_refused("-i a -o b resize 50%", "'50%' is no filter; did you mean 'resize=50%'?");
    assert_refused("--zzz", "unknown option '--zzz' (--help lists them)");
    assert_refused("-x", "unknown option '-x' (--help lists them)");
    assert_refused("--strip=yes",
                   "--strip=yes is none of gps, exif, xmp, iptc, icc, texts, comments, density, "
                   "thumbnails, copyright, orientation, gainmap, geo");
    assert_refused("--strip=gps,exfi",
                   "--strip=exfi is none of gps, exif, xmp, iptc, icc, texts, comments, density, "
                   "thumbnails, copyright, orientation, gainmap, geo; did you mean 'exif'?");
    assert_refused("--quality=0", "--quality=0 is outside 1..100");
    assert_refused("--quality -5", "--quality=-5 is outside 1..100");
    assert_refused("--quality=ninety", "--quality=ninety is not a number");
    assert_refused("--quality=9x", "--quality=9x is not a number");
    assert_refused("--quality=", "--quality= is not a number");
    assert_refused("--lanes=2.5", "--lanes=2.5 is not a whole number");
    assert_refused("--memory=1K", "--memory=1K is outside 1M..1T");
    assert_refused("--memory=much",
                   "--memory=much is not a number with or without a suffix K, M, G");
    assert_refused("--memory=1MX", "--memory=1MX is not a number with or without a suffix K, M, G");
    assert_refused("--max-pixels=1MB",
                   "--max-pixels=1MB is not a number with or without a suffix K, M, G");
    assert_refused("--max-pixels=0", "--max-pixels=0 is outside 1..1T");
    static const char formats[] =
#define GF_FORMAT_READ_WRITE(id, choice, ...) ", " choice
#include "codec/common/formats.def"
        ;
    char message[200];
    snprintf(message, sizeof message, "--format=heic is none of %s", &formats[2]);
    assert_refused("--format=heic", message);
    snprintf(message, sizeof message, "--format=jpge is none of %s; did you mean 'jpeg'?",
             &formats[2]);
    assert_refused("--format=jpge", message);
    assert_refused("--device=cudda",
                   "--device=cudda is none of auto, cpu, cuda, cuda:N; did you mean 'cuda'?");
    assert_refused("--device=cuda:x", "--device=cuda:x is none of auto, cpu, cuda, cuda:N");
    assert_refused("--device=cuda:-1", "--device=cuda:-1 is none of auto, cpu, cuda, cuda:N");
    assert_refused("--help blurr", "unknown filter 'blurr'; did you mean 'blur'?");
    assert_refused("-i a -o b blur sobel",
                   "two chains, 'blur' and 'sobel': filters are joined by commas, "
                   "files named by -i and -o");
    assert_refused("-i a -o b --trace=b", "--trace and --output are the same file");
}

/* The parser accepts every choice of the table, and exactly its ranges. */
static void test_table(void **state)
{
    const struct gf_option *option;
    for (int i = 0; (option = gf_option_at(i)); i++) {
        char usage[120], limits[80], line[160];
        const char *const output = option->action == GF_ACTION_INFO ? "" : "-o b";
        assert_non_null(option->help);
        assert_true(!option->of_output || i < 64); /* the bits of gf_command.given */
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(option->name, gf_option_at(k)->name);
            assert_true(!option->letter || option->letter != gf_option_at(k)->letter);
        }
        gf_option_usage(option, usage, sizeof usage);
        gf_option_limits(option, limits, sizeof limits);
        assert_memory_equal(usage + 2, option->name, strlen(option->name));
        for (int k = 0; option->choices && option->choices[k].name; k++) {
            snprintf(line, sizeof line, "-i a %s --%s=%s", output, option->name,
                     option->choices[k].name);
            parsed(line);
        }
        if (!gf_option_is_number(option->type))
            continue;
        assert_non_null(strstr(limits, ".."));
        const double tried[] = {option->least, option->greatest, option->least - 1,
                                option->greatest + 1};
        for (int k = 0; k < 4; k++) {
            struct gf_command command;
            struct gf_error error;
            snprintf(line, sizeof line, "-i a %s --%s=%.15g", output, option->name, tried[k]);
            assert_int_equal(parse(line, &command, &error), k < 2 ? GF_OK : GF_ERROR_USAGE);
        }
    }
    assert_null(gf_option_at(-1));
}

/* Times in ms: decode 0..2, uploads 1..2 and 2..3, blur 2..4 and 3..5 on two lanes, encode 5..8. */
static const struct gf_span spans[] = {
    {GF_SPAN_START, -1, -1, 0.0, 0.0015, 0},
    {GF_SPAN_ENCODE, -1, -1, 0.005, 0.008, 3000000},
    {GF_SPAN_STAGE, 0, 1, 0.003, 0.005, 2000000},
    {GF_SPAN_STAGE, 0, 0, 0.002, 0.004, 4000000},
    {GF_SPAN_STATISTIC, 1, 0, 0.004, 0.0045, 1000000},
    {GF_SPAN_UPLOAD, -1, 1, 0.002, 0.003, 1500000},
    {GF_SPAN_UPLOAD, -1, 0, 0.001, 0.002, 1500000},
    {GF_SPAN_DECODE, -1, -1, 0.0, 0.002, 3000000},
};
static const struct gf_profile_stage stages[] = {{"blur", 0}, {"equalize", 1}};
static const struct gf_profile profile = {
    .spans = spans,
    .span_count = sizeof spans / sizeof *spans,
    .stages = stages,
    .stage_count = 2,
    .wall_s = 0.01,
    .device = "cuda:0 \"Quoted\\ \x01GPU\"",
    .reason = "there is a GPU",
    .lanes = 2,
    .segments = 2,
    .band_rows = 16,
    .in = {1000, 1000, 3, 8},
    .out = {1000, 1000, 3, 8},
    .device_copy_peak = 4e9,
    .upload_peak = 3e9,
};

static struct gf_profile_report report_of(const struct gf_profile *of)
{
    struct gf_profile_report report;
    struct gf_error error;
    assert_int_equal(gf_profile_report_make(of, &report, &error), GF_OK);
    return report;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9 * (1 + fabs(expected))))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void test_report(void **state)
{
    static const char *const names[] = {"decode", "upload", "blur", "equalize histogram", "encode"};
    static const double busy_ms[] = {2, 2, 3, 0.5, 3};
    struct gf_profile_report report = report_of(&profile);
    assert_int_equal(report.count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(report.row[i].name, names[i]);
        assert_near(report.row[i].busy_s * 1e3, busy_ms[i]);
    }
    assert_int_equal(report.row[1].calls, 2);
    assert_near(report.row[1].rate, 1.5e9);
    assert_near(report.row[1].percent, 50);
    assert_near(report.row[2].bytes, 6e6);
    assert_near(report.row[2].rate, 2e9);
    assert_near(report.row[2].percent, 50);
    assert_int_equal(report.row[3].segment, 1);
    assert_near(report.row[3].percent, 50);
    assert_true(isnan(report.row[0].percent) && isnan(report.row[4].percent));
    assert_near(report.start_end_s - report.start_begin_s, 0.0015);
    assert_near(report.sum_s, 0.0105);
    assert_near(report.union_s, 0.008);
    assert_near(report.overlap, 1 - 8 / 10.5);
    assert_int_equal(report.bound, 2); /* the first of two that are equally long */
    gf_profile_report_free(&report);
}

static void test_report_of_nothing(void **state)
{
    const struct gf_profile empty = {.device = "cpu, 1 thread"};
    struct gf_profile_report report = report_of(&empty);
    assert_int_equal(report.count, 0);
    assert_int_equal(report.bound, -1);
    assert_near(report.overlap, 0);
    gf_profile_report_free(&report);
}

static void test_table_form(void **state)
{
    struct gf_profile_report report = report_of(&profile);
    gf_profile_report_table(&report, &profile, print_begin());
    char *const table = print_end();
    assert_non_null(
        strstr(table, "stage                calls     busy ms     bytes      GB/s  % copy\n"));
    assert_non_null(
        strstr(table, "blur                     2       3.000    6.0 MB      2.00    50.0\n"));
    assert_non_null(
        strstr(table, "encode                   1       3.000    3.0 MB      1.00       -\n"));
    assert_non_null(strstr(table, "\noverlap    24 %: 10.500 ms of work in 8.000 ms\n"));
    assert_non_null(strstr(table, "\nbound by   blur: busy for 30 % of the wall time\n"));
    assert_non_null(strstr(table, "\nheld by    instructions or latency: "));
    assert_non_null(strstr(table, "\nguide      Best Practices 10.1, "));
    assert_non_null(strstr(table, "\nCUDA start 1.5 ms, over at 1.5 ms\n"));
    free(table);
    gf_profile_report_free(&report);
}

/* The guide is one of GPUs. */
static void test_table_of_cpu(void **state)
{
    struct gf_profile on_cpu = profile;
    snprintf(on_cpu.device, sizeof on_cpu.device, "cpu, 2 threads");
    struct gf_profile_report report = report_of(&on_cpu);
    gf_profile_report_table(&report, &on_cpu, print_begin());
    char *const table = print_end();
    assert_non_null(strstr(table, "\nheld by    instructions: "));
    assert_null(strstr(table, "guide"));
    free(table);
    gf_profile_report_free(&report);
}

static void test_bytes(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{0, "0 B"},        {999, "999 B"},     {1000, "1.0 kB"},   {99949, "99.9 kB"},
                 {99950, "100 kB"}, {999400, "999 kB"}, {999600, "1.0 MB"}, {99532800, "99.5 MB"},
                 {1.5e9, "1.5 GB"}, {2e12, "2.0 TB"},   {3e15, "3000 TB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        gf_text_bytes(cases[i].bytes, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_json(void **state)
{
    const struct gf_key_help *key;
    struct gf_profile_report report = report_of(&profile);
    gf_profile_report_json(&report, &profile, print_begin());
    char *const json = print_end();
    for (key = gf_profile_report_keys; key->path; key++) {
        char quoted[64];
        const char *const dot = strchr(key->path, '.');
        snprintf(quoted, sizeof quoted, "\"%s\": ", dot ? dot + 1 : key->path);
        assert_non_null(strstr(json, quoted));
    }
    assert_non_null(strstr(json, "\"device\": \"cuda:0 \\\"Quoted\\\\ \\u0001GPU\\\"\""));
    assert_non_null(strstr(json, "\"download_gb_s\": null}"));
    assert_non_null(strstr(
        json, "{\"name\": \"upload\", \"kind\": \"upload\", \"segment\": null, \"calls\": 2, "
              "\"busy_ms\": 2.000000, \"bytes\": 3000000, \"gb_s\": 1.500000, "
              "\"peak_percent\": 50.000000},\n"));
    assert_non_null(strstr(
        json, "\"peak_percent\": null}\n  ],\n  \"spans\": [\n    [-1,-1,0.0000,1.5000,0],\n    "
              "[4,-1,5.0000,8.0000,3000000],\n    [2,1,3.0000,5.0000,2000000],"));
    assert_non_null(strstr(json, "\"out_bytes\": null,\n  \"quality\": null,\n"));
    free(json);
    gf_profile_report_free(&report);

    struct gf_profile searched = profile;
    searched.out_bytes = 120000;
    searched.quality = 84;
    searched.tries = 3;
    searched.score = 80.25;
    report = report_of(&searched);
    gf_profile_report_json(&report, &searched, print_begin());
    char *const found = print_end();
    assert_non_null(strstr(found, "\"out_bytes\": 120000,\n  \"quality\": 84,\n  \"tries\": 3,\n  "
                                  "\"score\": 80.250000,\n"));
    free(found);
    gf_profile_report_table(&report, &searched, print_begin());
    char *const table = print_end();
    assert_non_null(strstr(
        table, "\nfile       120000 bytes with quality 84 by 3 tries of a score of 80.25\n"));
    free(table);
    gf_profile_report_free(&report);
}

static void test_trace(void **state)
{
    struct gf_error error;
    assert_int_equal(gf_trace_write(&profile, print_begin(), &error), GF_OK);
    char *const trace = print_end();
    assert_int_equal(count_of(trace, "\"ph\": \"X\""), (int)profile.span_count);
    assert_int_equal(count_of(trace, "\"thread_name\""), 5); /* start, reader, two lanes, writer */
    assert_non_null(strstr(trace, "\"name\": \"lane 1\""));
    assert_non_null(strstr(trace,
                           "\"name\": \"blur\", \"cat\": \"stage\", \"pid\": 1, \"tid\": 2001, "
                           "\"ts\": 2000.000, \"dur\": 2000.000, \"args\": {\"bytes\": 4000000, "
                           "\"GB/s\": 2.000}}"));
    assert_int_equal(count_of(trace, "{"), count_of(trace, "}"));
    free(trace);
}

/* Spans of one lane that overlap get tracks of their own. */
static void test_trace_layers(void **state)
{
    static const struct gf_span crossing[] = {
        {GF_SPAN_STAGE, 0, 0, 0.000, 0.002, 0},
        {GF_SPAN_UPLOAD, -1, 0, 0.001, 0.003, 0},
        {GF_SPAN_DOWNLOAD, -1, 0, 0.002, 0.004, 0},
    };
    struct gf_profile crossed = profile;
    struct gf_error error;
    crossed.spans = crossing;
    crossed.span_count = 3;
    assert_int_equal(gf_trace_write(&crossed, print_begin(), &error), GF_OK);
    char *const trace = print_end();
    assert_int_equal(count_of(trace, "\"thread_name\""), 2);
    assert_non_null(strstr(trace, "\"name\": \"lane 0 (2)\""));
    assert_non_null(strstr(trace, "\"cat\": \"upload\", \"pid\": 1, \"tid\": 2002"));
    assert_non_null(strstr(trace, "\"cat\": \"download\", \"pid\": 1, \"tid\": 2001"));
    free(trace);
}

static void test_help(void **state)
{
    needs_study();
    const struct gf_option *option;
    const struct gf_filter *filter;
    FILE *const file = print_begin();
    gf_help_print(file);
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        gf_help_filter(file, filter);
    struct gf_error error;
    assert_int_equal(gf_study_help(file, NULL, &error), GF_OK);
    char *const help = print_end();
    for (const char *line = help; *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "\n");
        if (length > 100 || (length && line[length - 1] == ' '))
            fail_msg("'%.*s' is too long or ends in a space", (int)length, line);
    }
    for (int i = 0; (option = gf_option_at(i)); i++) {
        char usage[120];
        gf_option_usage(option, usage, sizeof usage);
        assert_non_null(strstr(help, usage));
    }
    free(help);
}

static char *study_of(const char *name)
{
    struct gf_error error;
    assert_int_equal(gf_study_help(print_begin(), name, &error), GF_OK);
    return print_end();
}

/* Variants of kernels stand in --help=study alone: the filter's own, or those of all filters. */
static void test_help_study(void **state)
{
    needs_study();
    const struct gf_filter *filter;
    char *const all = study_of(NULL);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char *const own = study_of(gf_filter_name(filter));
        const char *name;
        const bool has_variants = gf_filter_variant(filter, 1, NULL);
        for (int k = 0; has_variants && (name = gf_filter_variant(filter, k, NULL)); k++)
            assert_true(strstr(own, name) && strstr(all, name));
        free(own);
        gf_help_filter(print_begin(), filter);
        char *const use = print_end();
        assert_true(!strstr(use, "--help=study") == !has_variants);
        free(use);
    }
    free(all);
    struct gf_error error;
    assert_int_equal(gf_study_help(stdout, "blurr", &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, "unknown filter 'blurr'; did you mean 'blur'?");
}

/* Messages of the library name its options; those of the program, the command line's. */
static void test_name_options_as_typed(void **state)
{
    static const char *const messages[][2] = {
        {"a.png: over options.max_pixels=99", "a.png: over --max-pixels=99"},
        {"is there already (options.no_clobber)", "is there already (--no-clobber)"},
        {"use .png or options.format", "use .png or --format"},
        {"options.format; a folder ends in /", "--format; a folder ends in /"},
        {"over options.max_bytes=9", "over --max-bytes=9"},
        {"over the 64 MiB of options.memory_bytes", "over the 64 MiB of --memory"},
        {"unknown filter 'x' (gf_filter_at lists them)", "unknown filter 'x' (--list shows them)"},
        {"options.png: not a PNG", "options.png: not a PNG"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        char text[100];
        strcpy(text, messages[i][0]);
        gf_name_options_as_typed(text);
        assert_string_equal(text, messages[i][1]);
    }
}

static void test_exit_statuses(void **state)
{
    static const struct {
        enum gf_status status;
        int exit;
    } table[] = {{GF_OK, 0},
                 {GF_ERROR_DIFFERENT, 1},
                 {(enum gf_status)99, 1},
                 {GF_ERROR_USAGE, 2},
                 {GF_ERROR_UNAVAILABLE, 3},
                 {GF_ERROR_LIBRARY, 3},
                 {GF_ERROR_INPUT, 4},
                 {GF_ERROR_UNFIT, 4},
                 {GF_ERROR_OUTPUT, 75},
                 {GF_ERROR_READ, 75},
                 {GF_ERROR_MEMORY, 75},
                 {GF_ERROR_DEVICE_MEMORY, 75},
                 {GF_ERROR_DEVICE, 75},
                 {GF_ERROR_CANCELLED, 75}};
    assert_int_equal(sizeof table / sizeof *table, GF_STATUS_COUNT + 1);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(gf_exit_status(table[i].status), table[i].exit);
        assert_non_null(gf_exit_meaning(table[i].exit));
    }
    assert_int_equal(gf_graver_status(GF_ERROR_READ, GF_ERROR_INPUT), GF_ERROR_READ);
    assert_int_equal(gf_graver_status(GF_ERROR_INPUT, GF_ERROR_OUTPUT), GF_ERROR_OUTPUT);
    assert_int_equal(gf_graver_status(GF_ERROR_UNFIT, GF_ERROR_LIBRARY), GF_ERROR_LIBRARY);
    assert_int_equal(gf_graver_status(GF_OK, GF_ERROR_UNFIT), GF_ERROR_UNFIT);
    assert_int_equal(gf_graver_status(GF_ERROR_UNFIT, GF_OK), GF_ERROR_UNFIT);
}

/* The parser accepts the examples of --help FILTER and of the manual. */
static void test_filter_examples(void **state)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        struct gf_pipeline *pipeline;
        struct gf_options cpu = gf_options_default();
        struct gf_error error;
        char example[160];
        cpu.device = GF_DEVICE_CPU;
        gf_help_example(filter, example, sizeof example);
        if (gf_pipeline_open(example, &cpu, &pipeline, &error))
            fail_msg("%s: %s", example, error.text);
        gf_pipeline_close(pipeline);
    }
}

static void test_manual(void **state)
{
    const struct gf_option *option;
    const struct gf_filter *filter;
    gf_man_print(print_begin());
    char *const manual = print_end();
    for (int i = 0; (option = gf_option_at(i)); i++) {
        FILE *const file = print_begin();
        gf_man_text(file, "--");
        gf_man_text(file, option->name);
        char *const tag = print_end();
        assert_non_null(strstr(manual, tag));
        free(tag);
    }
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char heading[64];
        snprintf(heading, sizeof heading, ".TP\n\\fB%s\\fR\n", gf_filter_name(filter));
        assert_non_null(strstr(manual, heading));
    }
    free(manual);
}

static void test_markup(void **state)
{
    gf_man_text(print_begin(), ".a-b\\c\n'd");
    char *const text = print_end();
    assert_string_equal(text, "\\&.a\\-b\\ec\n\\&'d");
    free(text);
}

static void test_list(void **state)
{
    const struct gf_filter *filter;
    gf_help_list(print_begin(), GF_LIST_MARKDOWN);
    char *const list = print_end();
    int count = 0;
    for (; (filter = gf_filter_at(count)); count++) {
        char cell[64];
        snprintf(cell, sizeof cell, "\n| `%s`", gf_filter_name(filter));
        assert_non_null(strstr(list, cell));
    }
    assert_int_equal(count_of(list, "\n"), count + 2);
    free(list);
}

/* ---- batches ---- */

static void test_batch_options(void **state)
{
    const struct gf_command command =
        parsed("-i a -i b -i @c -o d -r0n --shard=2/3 --log=e --update --sync --progress=json");
    assert_int_equal(command.inputs, 3);
    assert_string_equal(command.input[2], "@c");
    assert_true(command.recursive && command.nul_separated && command.dry_run && command.update);
    assert_true(command.options.sync);
    assert_int_equal(command.shard, 2);
    assert_int_equal(command.shards, 3);
    assert_int_equal(command.progress, GF_PROGRESS_JSON);
    assert_refused("-i a -o b --shard=1", "--shard=1 is not K/N, the K-th of N parts");
    assert_refused("-i a -o b --shard=1/0", "--shard=1/0 is not K/N, the K-th of N parts");
    assert_refused("-i a -o b --shard=0/4",
                   "--shard=0/4: K is outside 1..4; with an index that counts from 0: "
                   "--shard=$((INDEX + 1))/4");
    assert_refused("-i a -o b --log=c --resume=d",
                   "--log and --resume name different files, but --resume continues its log");
    assert_string_equal(parsed("-i a -o b --log=c --resume=c").resume, "c");
    assert_refused("-i a -o b blur --chain-file=c", "two chains: 'blur', and --chain-file");
}

static void test_devices(void **state)
{
    struct gf_command command = parsed("-i a -o b --device=cuda:2,0,11");
    assert_int_equal(command.devices, 3);
    assert_int_equal(command.device[0], 2);
    assert_int_equal(command.device[2], 11);
    assert_int_equal(command.options.device_index, 2);
    command = parsed("-i a -o b --device=cuda:all");
    assert_true(command.all_devices && !command.devices);
    assert_int_equal(command.options.device, GF_DEVICE_CUDA);
    command = parsed("-i a -o b --device=cuda:1,2 --device=cpu");
    assert_true(!command.devices && command.options.device == GF_DEVICE_CPU);
    static const char *const wrong[] = {"0,",  ",0", "0,0",  "0 1",  "0,x",
                                        "1-2", "-1", "9999", "1,all"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[80], message[120];
        if (strchr(wrong[i], ' '))
            continue;
        snprintf(line, sizeof line, "-i a -o b --device=cuda:%s", wrong[i]);
        snprintf(message, sizeof message, "--device=cuda:%s is none of auto, cpu, cuda, cuda:N",
                 wrong[i]);
        struct gf_error error;
        assert_int_equal(parse(line, &command, &error), GF_ERROR_USAGE);
        assert_memory_equal(error.text, message, strlen(message));
    }
}

/* Checks how that form shows the state. */
static void assert_shown(enum gf_progress_form form, const struct gf_batch_state *batch,
                         bool at_end, const char *expected)
{
    char text[600] = "";
    FILE *const file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    struct gf_progress progress = gf_progress_make(stderr, form, 2);
    progress.file = file;
    progress.colour = false;
    progress.columns = 100;
    gf_progress_show(&progress, batch, at_end);
    fclose(file);
    assert_string_equal(text, expected);
}

static void test_progress(void **state)
{
    struct gf_batch_state batch = {.files = 200,
                                   .done = 45,
                                   .failed = 5,
                                   .skipped = 50,
                                   .left_out = 3,
                                   .pictures = 45,
                                   .megapixels = 93.3,
                                   .elapsed_s = 10};
    batch.busy_s[GF_SPAN_DECODE] = 3;
    batch.busy_s[GF_SPAN_STAGE] = batch.busy_s[GF_SPAN_STATISTIC] = 2;
    /* 50 files took 10 s, not counting the skipped ones; 100 are left. */
    assert_shown(GF_PROGRESS_LINES, &batch, false,
                 "gpufilter: 100 of 200 files, 5 failed, 93 Mpixel, 4.5 pictures/s, 0:20 left, "
                 "bound by filter\n");
    assert_shown(
        GF_PROGRESS_BAR, &batch, false,
        "\r[############------------]  50% 100/200 5 failed 93 MP 4.5/s left 0:20 filter\033[K");
    batch.busy_s[GF_SPAN_DECODE] = 5;
    assert_shown(
        GF_PROGRESS_JSON, &batch, false,
        "{\"files\":200,\"done\":45,\"failed\":5,\"skipped\":50,\"left_out\":3,\"pictures\":45,"
        "\"megapixels\":93.300,"
        "\"elapsed_s\":10.000,\"pictures_per_s\":4.5,\"eta_s\":20.0,\"bound_by\":\"decode\","
        "\"at_end\":false}\n");
    batch = (struct gf_batch_state){.files = 7, .skipped = 7, .elapsed_s = 4000};
    assert_shown(
        GF_PROGRESS_LINES, &batch, false,
        "gpufilter: 7 of 7 files, 0 Mpixel, 0.0 pictures/s, ? left, bound by nothing yet\n");
    /* At the end the summary follows. */
    assert_shown(GF_PROGRESS_LINES, &batch, true, "");
    assert_shown(GF_PROGRESS_BAR, &batch, true, "");
    assert_shown(GF_PROGRESS_NONE, &batch, true, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_options),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_files_and_chain),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_options_of_outputs),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_report_of_nothing),
        cmocka_unit_test(test_table_form),
        cmocka_unit_test(test_table_of_cpu),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_trace_layers),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_help_study),
        cmocka_unit_test(test_filter_examples),
        cmocka_unit_test(test_manual),
        cmocka_unit_test(test_name_options_as_typed),
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_markup),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
