/* The table of options, what users of other programs call them, and the functions that write an
 * option for the help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/plain_text.h"
#include "batch/sheets/sheet.h"
#include "cli/command/command.h"
#include "cli/study/study.h"

/* The offset of the member of the command that an option sets. */
#define AT(member) offsetof(struct gf_command, member)
#define KI 1024.0
#define MEMORY_LEAST (KI * KI)
#define MEMORY_GREATEST (KI * KI * KI * KI)

/* clang-format off */
static const struct gf_choice formats[] = {
#define GF_FORMAT_READ_WRITE(id, choice, ...) {choice, GF_FILE_##id},
#include "codec/formats.def"
    {"jpg", GF_FILE_JPEG}, {"ppm", GF_FILE_PNM}, {"pgm", GF_FILE_PNM}, {0},
};
static const struct gf_choice input_formats[] = {
#define GF_FORMAT_READ_WRITE(id, choice, ...) {choice, GF_FILE_##id},
#define GF_FORMAT_READ(id, choice, ...) {choice, GF_FILE_##id},
#include "codec/formats.def"
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
static const struct gf_choice tiff_compressions[] = {
    {"deflate", GF_TIFF_DEFLATE}, {"lzw", GF_TIFF_LZW}, {"none", GF_TIFF_NONE}, {"jpeg", GF_TIFF_JPEG}, {"zstd", GF_TIFF_ZSTD}, {"g4", GF_TIFF_G4}, {0},
};
static const struct gf_choice depths[] = {{"auto", GF_DEPTH_AUTO}, {"1", 1}, {"8", 8}, {"10", 10}, {"12", 12}, {"16", 16}, {0}};
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
    {"compare:csv", GF_PROFILE_COMPARE_CSV}, {"compare:html" GF_CHOICE_FILE, GF_PROFILE_COMPARE_HTML},) {0},
};
static const struct gf_choice help_forms[] = {GF_STUDY({"study", GF_HELP_STUDY},) {0}};
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
    {"table", GF_INFO_TABLE}, {"json", GF_INFO_JSON}, {"statistics", GF_INFO_STATISTICS}, {0},
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
    {.group = "Files", .name = "input", .letter = 'i', .argument = "FILE", .type = GF_OPTION_INPUT,
     .help = "the picture to read: "
#define GF_FORMAT_READ_WRITE(id, choice, name, ...) name ", "
#define GF_FORMAT_READ(id, choice, name, ...) name ", "
#include "codec/formats.def"
             "known by content. FILE[2] is a file's third picture, FILE[2..5] and FILE[all] frames, FILE[depth] a depth map, - is standard input. Also a folder, a quoted "
             "pattern, or @LIST, a file with one name per line (@-: standard input); -i may be given several times. "
             "Or archives: FILE.tar, also compressed; tar:- reads a pipe"},
    {.name = "output", .letter = 'o', .argument = "FILE", .type = GF_OPTION_OUTPUT,
     .offset = AT(output),
     .help = "the picture to write, in the format of its extension; it appears complete or not at all. - is standard "
             "output. For several inputs a folder, which ends in / or exists, or a template with {dir}, {stem}, {archive}, "
             "{ext}, {n}, {w}, {h}. Several -o make several outputs of one decoding; a chain and encoding options then belong "
             "to the -o before them. Or an archive: FILE.tar, FILE.tar.gz, .xz, .zst, {stem}.tar; "
             "tar:- is standard output"},
    {.name = "chain-file", .of_output = true, .argument = "FILE", .type = GF_OPTION_FILE, .offset = AT(chain_file),
     .help = "read the chain from a file; # starts comments"},
    {.name = "format", .of_output = true, .type = GF_OPTION_CHOICE, .choices = formats, .offset = AT(options.format),
     .help = "format of the output, whatever its extension"},
    {.name = "quality", .of_output = true, .argument = "N", .type = GF_OPTION_INT, .least = 1, .greatest = GF_QUALITY_MAX,
     .offset = AT(options.quality),
     .help = "quality of lossy formats"},
    {.name = "max-bytes", .of_output = true, .argument = "N", .type = GF_OPTION_COUNT, .least = 1, .greatest = 1e12,
     .offset = AT(options.max_bytes),
     .help = "the best quality whose file has at most N bytes, found by trials; 200k"},
    {.name = "target-ssim", .of_output = true, .argument = "N", .type = GF_OPTION_NUMBER, .least = 0.01, .greatest = 1,
     .offset = AT(options.target_ssim),
     .help = "the least quality with this SSIM to the result (--compare), found by trials"},
    {.name = "lossless", .of_output = true, .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.lossless),
     .help = "write the same pixels again, or refuse"},
    {.name = "subsampling", .of_output = true, .type = GF_OPTION_CHOICE, .choices = subsamplings,
     .offset = AT(options.subsampling),
     .help = "colours of JPEG, AVIF, Y4M; auto is 444 above quality 90, else 420"},
    {.name = "progressive", .of_output = true, .type = GF_OPTION_SWITCH, .implied = true,
     .offset = AT(options.progressive),
     .help = "write a progressive JPEG"},
    {.name = "optimize", .of_output = true, .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.optimize),
     .help = "a smaller JPEG, by Huffman codes of its own"},
    {.name = "png-level", .of_output = true, .argument = "N", .type = GF_OPTION_INT, .least = 0, .greatest = GF_PNG_LEVEL_MAX,
     .offset = AT(options.png_level),
     .help = "PNG compression; 1 is fast"},
    {.name = "png-palette", .of_output = true, .argument = "N", .type = GF_OPTION_INT, .optional = true, .least = 2,
     .greatest = GF_PNG_COLOURS_MAX, .offset = AT(options.png_colours), .bare_offset = AT(options.png_palette),
     .help = "reduce a PNG or GIF to N colours; without N a PNG of up to 256 gets a palette"},
    {.name = "tiff-compression", .of_output = true, .type = GF_OPTION_CHOICE, .choices = tiff_compressions,
     .offset = AT(options.tiff_compression),
     .help = "compression; g4 is for 1 bit"},
    {.name = "depth", .of_output = true, .type = GF_OPTION_CHOICE, .choices = depths, .offset = AT(options.depth),
     .help = "bits of a sample; auto: those of the input"},
    {.name = "dither", .of_output = true, .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.dither),
     .help = "dither where samples lose bits"},
    {.name = "to-icc", .of_output = true, .argument = "PROFILE", .type = GF_OPTION_FILE, .offset = AT(to_icc),
     .help = "convert the colours after the chain: srgb, display-p3 or a file, with parameters as icc takes them: srgb:intent=perceptual"},
    {.name = "cmyk-profile", .argument = "FILE", .type = GF_OPTION_FILE,
     .offset = AT(options.cmyk_profile),
     .help = "the ICC profile of CMYK pictures that carry none; else RGB is (1 - ink)(1 - black)"},
    {.name = "strip", .of_output = true, .argument = "LIST", .type = GF_OPTION_SET, .optional = true, .choices = items,
     .implied = (1 << GF_METADATA_ITEMS) - 1, .offset = AT(options.stripped),
     .help = "metadata to leave out: "
#define GF_METADATA_ITEM(id, word, ...) word ", "
#include "codec/common/items.def"
             "or all"},
    {.name = "keep", .of_output = true, .argument = "LIST", .type = GF_OPTION_SET, .choices = items,
     .offset = AT(options.kept),
     .help = "leave out all other metadata"},
    {.name = "no-autorotate", .type = GF_OPTION_SWITCH, .implied = false,
     .offset = AT(options.autorotate),
     .help = "keep the pixels as the file stores them"},
    {.name = "gain-map", .type = GF_OPTION_CHOICE, .choices = gain_maps, .offset = AT(options.gain_map),
     .help = "a JPEG's gain map; apply: HDR"},
    {.name = "range", .argument = "RANGE", .type = GF_OPTION_RANGE, .offset = AT(options.range_low),
     .help = "MIN:MAX, percentile or unit: what becomes black and white of floating-point TIFFs"},
    {.name = "raw", .argument = "WxH:FORMAT:RATE", .type = GF_OPTION_WORDS, .offset = AT(raw),
     .help = "frames without headers: 64x48:rgb24:25"},
    {.name = "yuv", .argument = "LIST", .type = GF_OPTION_SMALL_SET, .choices = yuv_items, .offset = AT(options.yuv),
     .help = "matrix and range of films: bt601, bt709 or bt2020, limited or full"},
    {.name = "allow-truncated", .type = GF_OPTION_SWITCH, .implied = true,
     .offset = AT(options.allow_truncated),
     .help = "read what is there of a cut PNG, JPEG or JP2"},
    {.name = "max-pixels", .argument = "N", .type = GF_OPTION_COUNT, .least = 1, .greatest = 1e12,
     .offset = AT(options.max_pixels),
     .help = "refuse larger inputs and larger results of filters; suffixes k, M, G"},
    {.name = "timeout", .argument = "SECONDS", .type = GF_OPTION_NUMBER, .least = 0.001, .greatest = GF_TIMEOUT_MAX,
     .offset = AT(options.timeout_s),
     .help = "fail inputs that take longer"},
    {.name = "max-output", .argument = "SIZE", .type = GF_OPTION_SIZE, .least = 1, .greatest = MEMORY_GREATEST,
     .offset = AT(options.max_output_bytes),
     .help = "drop larger outputs of an input; by default an archive's members may have 1 GiB or 16 KiB for each of its bytes"},
    {.name = "formats", .argument = "LIST", .type = GF_OPTION_SET, .choices = input_formats, .offset = AT(options.formats),
     .help = "read inputs of these formats only: png,jpeg"},
    {.name = "sandbox", .type = GF_OPTION_CHOICE, .choices = sandboxes, .offset = AT(options.sandbox),
     .help = "decoders in cells, without files and network; auto: those of libraries"},
    {.name = "untrusted", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(untrusted),
     .help = "for strangers' pictures, where not given: all in cells but PNM and PAM, 1 GiB, 64 megapixels, 30 s, 256 MiB of "
             "output; plain files of archives, no links in output folders"},

    {.group = "Batches", .name = "recursive", .letter = 'r', .type = GF_OPTION_SWITCH, .implied = true,
     .offset = AT(recursive),
     .help = "also search the folders within a folder"},
    {.name = "join", .argument = "across|down|grid", .type = GF_OPTION_WORDS, .word_at = gf_sheet_direction,
     .offset = AT(join),
     .help = "one picture of several; see --help join"},
    {.name = "sheet", .argument = "COLUMNSxROWS", .type = GF_OPTION_WORDS, .offset = AT(sheet),
     .help = "contact sheets; see --help sheet"},
    {.name = "null", .letter = '0', .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(nul_separated),
     .help = "names in a list end with NUL"},
    {.name = "log", .argument = "FILE", .type = GF_OPTION_FILE, .offset = AT(log),
     .help = "append a line of JSON for every picture"},
    {.name = "resume", .argument = "FILE", .type = GF_OPTION_FILE, .offset = AT(resume),
     .help = "skip what this log lists as done; append to it"},
    {.name = "skip-existing", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(skip_existing),
     .help = "leave outputs that exist; not with {n}"},
    {.name = "update", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(update),
     .help = "leave outputs as new as inputs; not with {n}"},
    {.name = "no-clobber", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.no_clobber),
     .help = "an output that exists is an error"},
    {.name = "fail-fast", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(fail_fast),
     .help = "begin no file after the first that failed"},
    {.name = "on-failure", .type = GF_OPTION_CHOICE, .choices = failures, .offset = AT(on_failure),
     .help = "failed pictures of archives"},
    {.name = "sync", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.sync),
     .help = "flush every output to the disk"},
    {.name = "dry-run", .letter = 'n', .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(dry_run),
     .help = "print what would be done"},
    {.name = "shard", .argument = "K/N", .type = GF_OPTION_SHARD,
     .help = "only the K-th of N parts of the inputs"},
    {.name = "fetch", .argument = "COMMAND", .type = GF_OPTION_FILE, .offset = AT(fetch),
     .help = "get inputs: rclone copyto {in} {file}"},
    {.name = "store", .argument = "COMMAND", .type = GF_OPTION_FILE, .offset = AT(store),
     .help = "put outputs: rclone copyto {file} {out}"},
    {.name = "probe", .argument = "COMMAND", .type = GF_OPTION_FILE, .offset = AT(probe),
     .help = "look what is done: rclone cat {record}"},
    {.name = "transfer-tries", .argument = "N", .type = GF_OPTION_INT, .least = 1, .greatest = 100,
     .offset = AT(transfer_tries),
     .help = "tries of each"},
    {.name = "transfer-timeout", .argument = "SECONDS", .type = GF_OPTION_INT, .least = 1, .greatest = 1000000,
     .offset = AT(transfer_timeout),
     .help = "limit of a try; else 1 h idle"},
    {.name = "transfer-space", .argument = "SIZE", .type = GF_OPTION_SIZE, .least = 1,
     .greatest = MEMORY_GREATEST, .offset = AT(transfer_space),
     .help = "bytes in $TMPDIR; by default a quarter of what is free"},
    {.name = "progress", .type = GF_OPTION_CHOICE, .choices = progresses, .offset = AT(progress),
     .help = "form of the progress; auto is a bar on a terminal, else lines"},

    {.group = "Device and memory", .name = "device", .type = GF_OPTION_DEVICE, .choices = devices,
     .greatest = GF_DEVICE_INDEX_MAX, .offset = AT(options.device),
     .help = "where to run; auto takes what is done sooner. Several GPUs if they pay: cuda:0,1 or cuda:all"},
    {.name = "server", .type = GF_OPTION_CHOICE, .choices = server_uses, .offset = AT(server),
     .help = "whether a server that keeps the GPU awake does single pictures; start starts a server where there is none"},
    {.name = "serve", .type = GF_OPTION_CHOICE, .optional = true, .choices = serve_forms,
     .implied = GF_SERVE_BEGIN, .action = GF_ACTION_SERVE, .offset = AT(form),
     .help = "run as that server, or stop it"},
    {.name = "idle", .argument = "SECONDS", .type = GF_OPTION_INT, .least = 1, .greatest = 1e9,
     .offset = AT(idle_s),
     .help = "time without work after which a server ends; 300 with --server=start"},
    {.name = "lanes", .argument = "N", .type = GF_OPTION_INT, .least = 0, .greatest = GF_LANES_MAX,
     .offset = AT(options.lanes),
     .help = "bands in work at once; 0: automatic"},
    {.name = "band-rows", .argument = "N", .type = GF_OPTION_INT, .least = 0, .greatest = GF_BAND_ROWS_MAX,
     .offset = AT(options.band_rows),
     .help = "rows of a band; 0: automatic"},
    {.name = "threads", .argument = "N", .type = GF_OPTION_INT, .least = 0, .greatest = GF_THREADS_MAX,
     .offset = AT(options.threads),
     .help = "CPU threads for filters, PNG and JPEG; 0: one for each processor"},
    {.name = "memory", .argument = "SIZE", .type = GF_OPTION_SIZE, .least = MEMORY_LEAST,
     .greatest = MEMORY_GREATEST, .offset = AT(options.memory_bytes),
     .help = "limit of host memory; a picture that needs more is refused; by default three quarters of the memory there is, and for a decoder 1 GiB or 16 KiB for each byte of the file; suffixes K, M, G"},
    {.name = "device-memory", .argument = "SIZE", .type = GF_OPTION_SIZE, .least = MEMORY_LEAST,
     .greatest = MEMORY_GREATEST, .offset = AT(options.device_memory_bytes),
     .help = "limit; by default what is free"},
    {.name = "codec", .type = GF_OPTION_CHOICE, .choices = codecs, .offset = AT(options.codec),
     .help = "where JPEGs, PNGs of level 1 and frames of Y4Ms are decoded and encoded, with the same result; auto: on the GPU, where a GPU runs and can do it"},
    {.name = "host-memory", .type = GF_OPTION_CHOICE, .choices = host_memories,
     .offset = AT(options.host_memory),
     .help = "host memory for copies to a GPU; pageable shows what copies cost without pinning"},
    {.name = "transfer", .type = GF_OPTION_CHOICE, .choices = transfers, .offset = AT(options.transfer),
     .help = "how data get to a GPU; zero-copy lets kernels read and write pinned host memory over PCIe, without copies"},
    {.name = "no-fuse", .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(options.no_fuse),
     .help = "run every filter as a stage of its own, rounding after each; kernels of their own count histograms"},

    {.group = "Reports", .name = "profile", .type = GF_OPTION_CHOICE, .optional = true,
     .implied = GF_PROFILE_TABLE, .choices = profiles, .offset = AT(profile), .file_offset = AT(page),
     .argument = "FORM",
     .help = "report how long each stage took: table, json, or html:FILE, a page" GF_STUDY("; compare, compare:json, "
             "compare:csv, compare:html:FILE: compare all variants and settings (-o not needed)") ". On "
             "standard error if -o is -"},
    GF_STUDY({.name = "explain", .type = GF_OPTION_SWITCH, .action = GF_ACTION_EXPLAIN,
     .help = "say what would run and where: bands, kernels, bytes, the time that bandwidths allow"},)
    {.name = "metrics", .argument = "FILE", .type = GF_OPTION_FILE, .offset = AT(metrics),
     .help = "write counts for Prometheus as they change"},
    {.name = "trace", .argument = "FILE", .type = GF_OPTION_FILE, .offset = AT(trace),
     .help = "write a timeline for Perfetto"},
    {.name = "report", .argument = "FILE", .type = GF_OPTION_FILE, .action = GF_ACTION_REPORT, .offset = AT(page),
     .help = "json:FILE adds up logs and records"
             GF_STUDY("; else a page of saved JSON, logs and the counts of ncu --csv")},
    {.name = "info", .type = GF_OPTION_CHOICE, .optional = true, .choices = info_forms,
     .implied = GF_INFO_TABLE, .action = GF_ACTION_INFO, .offset = AT(form),
     .help = "say what the inputs are: size, colours, GPS; statistics: count each channel's levels"},
    {.name = "compare", .argument = "FILE[:LIMIT...]", .type = GF_OPTION_FILE,
     .action = GF_ACTION_COMPARE, .offset = AT(likeness),
     .help = "compare this picture with the one whose name follows: largest and mean difference, PSNR, SSIM, "
             "MS-SSIM; -o draws the differences. A limit sets the exit status: max-largest, max-mean, min-psnr, "
             "min-ssim, min-ms-ssim, as in a.png:min-ssim=0.98; a.png:json prints JSON"},
    {.name = "verbose", .letter = 'v', .type = GF_OPTION_SWITCH, .implied = true,
     .offset = AT(verbose),
     .help = "say which device ran and why, how long its start took, sizes, bands and time, and what libraries print"},
    {.name = "quiet", .letter = 'q', .type = GF_OPTION_SWITCH, .implied = true, .offset = AT(quiet),
     .help = "no warnings, no progress"},

    {.group = "Information", .name = "help", .letter = 'h', .argument = "FILTER",
     .type = GF_OPTION_FILTER, .optional = true, .choices = help_forms, .action = GF_ACTION_HELP,
     .help = "this text, or a filter's parameters, an example and its definition" GF_STUDY("; --help=study FILTER: the variants of its CUDA kernels")},
    {.name = "examples", .argument = "WORD", .type = GF_OPTION_WORDS, .optional = true,
     .action = GF_ACTION_EXAMPLES, .offset = AT(examples),
     .help = "commands of the cookbook that have a word"},
    {.name = "list", .type = GF_OPTION_CHOICE, .optional = true, .choices = lists,
     .implied = GF_LIST_TEXT, .action = GF_ACTION_LIST, .offset = AT(form),
     .help = "list the filters with their parameters"},
    {.name = "devices", .type = GF_OPTION_CHOICE, .optional = true, .choices = device_forms,
     .implied = GF_DEVICES_TEXT, .action = GF_ACTION_DEVICES, .offset = AT(form),
     .help = "list the GPUs of this machine, or say why there is none; measure: also bandwidths"},
    {.name = "calibrate", .type = GF_OPTION_SWITCH, .action = GF_ACTION_CALIBRATE,
     .help = "measure the figures of --device=auto, in 10 s"},
    {.name = "selftest", .type = GF_OPTION_CHOICE, .optional = true, .choices = extents,
     .implied = GF_SELFTEST_FULL, .action = GF_ACTION_SELFTEST, .offset = AT(form),
     .help = "compare every filter and variant on every device with the CPU, or only the filters named, separated by commas"},
    GF_STUDY({.name = "lab", .argument = "NAME[:KEY=VALUE...]", .type = GF_OPTION_WORDS, .optional = true,
     .word_at = gf_study_lab_word, .action = GF_ACTION_LAB, .offset = AT(lab),
     .help = "list the microbenchmarks of single techniques, or run one or all of them"},)
    {.name = "version", .letter = 'V', .type = GF_OPTION_SWITCH, .action = GF_ACTION_VERSION,
     .help = "the version"},
    {.name = "man", .type = GF_OPTION_SWITCH, .action = GF_ACTION_MAN,
     .help = "the manual page in roff"},
    {.name = "completion", .type = GF_OPTION_CHOICE, .choices = shells,
     .action = GF_ACTION_COMPLETION, .offset = AT(form),
     .help = "print a script that completes command lines"},
};
/* clang-format on */
enum { OPTION_COUNT = sizeof options / sizeof *options };

const struct gf_option *gf_option_at(int index)
{
    return index >= 0 && index < OPTION_COUNT ? &options[index] : NULL;
}

struct gf_command gf_command_default(void)
{
    struct gf_command command = {.options = gf_options_default()};
    command.options.sandbox = GF_SANDBOX_AUTO;
    command.options.sandbox_program = GF_OWN_PROGRAM;
    command.transfer_tries = GF_TRANSFER_TRIES;
    return command;
}

bool gf_option_takes_next(const struct gf_option *option)
{
    return option->optional &&
           (option->type == GF_OPTION_FILTER || option->type == GF_OPTION_WORDS);
}

/* Whether a choice repeats the value of an earlier one. */
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
    const struct gf_command defaults = gf_command_default();
    const void *const member = (const char *)&defaults + option->offset;
    char least[32], greatest[32], value[32];
    text[0] = '\0';
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
