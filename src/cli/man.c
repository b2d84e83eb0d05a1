/* The manual page, in the man macros. */
#include <string.h>

#include "bench/compare.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "gpufilter/status.h"
#include "labs/lab.h"
#include "report/compare_report.h"
#include "report/lab_report.h"
#include "report/profile_report.h"
#include "report/text.h"

/* Text in which nothing is markup: dashes stay ASCII dashes, a dot begins no request. */
void gf_man_text(FILE *file, const char *text)
{
    bool first = true; /* of its line */
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        first = *text == '\n';
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            putc(*text, file);
    }
}

static void put_line(FILE *file, const char *text)
{
    gf_man_text(file, text);
    putc('\n', file);
}

/* A tagged paragraph, the tag in bold. */
static void put_tag(FILE *file, const char *tag)
{
    fputs(".TP\n\\fB", file);
    gf_man_text(file, tag);
    fputs("\\fR\n", file);
}

static void put_head(FILE *file)
{
    fprintf(file, ".TH GPUFILTER 1 \"\" \"gpufilter %s\" \"User commands\"\n", gf_version());
    fputs(
        ".SH NAME\ngpufilter \\- filter pictures on an NVIDIA GPU, or on the CPU with the same "
        "result\n"
        ".SH SYNOPSIS\n.B gpufilter\n\\fB\\-i\\fR \\fIfile\\fR \\fB\\-o\\fR \\fIfile\\fR "
        "[\\fIoption\\fR]... [\\fIchain\\fR]\n"
        ".SH DESCRIPTION\n"
        "Reads a picture, runs it through a chain of filters and writes the result, complete or "
        "not at "
        "all.\nWithout a chain the picture is only converted to the format of the output.\n"
        "The result does not depend on the device, nor on the number of lanes, bands or threads.\n"
        "Options and the chain come in any order; \\fB\\-\\-\\fR ends the options, and a value "
        "follows "
        "its option after \\(lq=\\(rq or as the next argument.\n"
        ".SH CHAINS\n"
        "A chain is filters separated by commas: \\fIname\\fR, or \\fIname\\fB=\\fIvalue\\fR with "
        "values "
        "separated by colons.\nThe first parameters go by position, any by name as "
        "\\fIkey\\fB=\\fIvalue\\fR; nothing goes by position after a name.\nRows of a matrix are "
        "separated by \\(lq/\\(rq or \\(lq|\\(rq, its numbers by spaces.\nA value that holds a "
        "comma or "
        "a colon is quoted with \\(aq\\(aq or \"\", or escaped with a backslash.\n"
        ".PP\n"
        "Adjacent filters that need only the pixel itself are evaluated together and rounded "
        "once.\n",
        file);
}

static void put_options(FILE *file)
{
    const struct gf_option *option;
    fputs(".SH OPTIONS\n", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        char usage[120], limits[80], tag[160];
        gf_option_usage(option, usage, sizeof usage);
        gf_option_limits(option, limits, sizeof limits);
        snprintf(tag, sizeof tag, "%s%c%s%s", option->letter ? "-" : "",
                 option->letter ? option->letter : '-', option->letter ? ", " : "",
                 option->letter ? usage : usage + 1);
        if (option->group)
            fprintf(file, ".SS %s\n", option->group);
        put_tag(file, tag);
        gf_man_text(file, option->help);
        if (*limits) {
            fputs("\n(", file);
            gf_man_text(file, limits);
            putc(')', file);
        }
        putc('\n', file);
    }
}

static void put_param(FILE *file, const struct gf_param *param)
{
    char limits[200];
    gf_param_limits(param, limits, sizeof limits);
    put_tag(file, param->name);
    gf_man_text(file, param->help);
    fputs(" (", file);
    gf_man_text(file, limits);
    fputs(")\n", file);
}

static void put_variants(FILE *file, const struct gf_filter *filter)
{
    const char *name, *summary;
    if (!gf_filter_variant(filter, 1, &summary))
        return;
    put_tag(file, "variant");
    fputs("of the CUDA kernels: the default, the naive one (also\n.BR variant=naive )\n"
          "and from there up; the picture is the same:\n.RS\n",
          file);
    for (int i = 0; (name = gf_filter_variant(filter, i, &summary)); i++) {
        put_tag(file, name);
        put_line(file, summary ? summary : "");
    }
    fputs(".RE\n", file);
}

static void put_filter(FILE *file, const struct gf_filter *filter)
{
    char example[160];
    fprintf(file, ".SS %s\n", gf_filter_name(filter));
    gf_man_text(file, gf_filter_summary(filter));
    if (gf_filter_alias(filter))
        fprintf(file, ".\nAlso called %s", gf_filter_alias(filter));
    fputs(".\n", file);
    if (gf_filter_definition(filter)) {
        fputs(".PP\n", file);
        put_line(file, gf_filter_definition(filter));
    }
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++)
        put_param(file, param);
    put_variants(file, filter);
    gf_help_example(filter, example, sizeof example);
    fputs(".PP\nExample:\n\\fB", file);
    gf_man_text(file, example);
    fputs("\\fR\n", file);
}

static void put_batches(FILE *file)
{
    fputs(".SH BATCHES\n"
          "With a folder, a quoted pattern, \\fB@\\fR\\fIlist\\fR or several \\fB\\-i\\fR every "
          "picture goes its "
          "own way: one that fails does not stop the others, and the order of what is said is that "
          "of the inputs.\n"
          "A folder gives its PNG, JPEG, PNM and PAM files, sorted, without hidden ones.\n"
          ".PP\n"
          "\\fB\\-o\\fR is then a folder, which keeps the names and the subfolders of a recursive "
          "search, or a template "
          "with these fields; a brace itself is doubled. Missing folders are made.\n",
          file);
    static const struct {
        const char *field, *help;
    } fields[] = {
        {"{dir}",
         "the input's folder: below the searched one, or as it was named, without . and .."},
        {"{stem}, {ext}", "the parts of its name; the extension of --format where that is given"},
        {"{n}, {n:4}",
         "its number in the whole list, from 1, with that many digits at least; for a single "
         "input the number of the picture in it"},
        {"{w}, {h}", "the size of the result"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        put_tag(file, fields[i].field);
        put_line(file, fields[i].help);
    }
    fputs(".PP\n"
          "Two inputs that would be written to one file are refused before anything runs, as is an "
          "output that is "
          "another input.\n"
          ".PP\n"
          "\\fB\\-\\-log\\fR appends one JSON object a line when a picture is finished: "
          "\\fIindex\\fR, "
          "\\fIinput\\fR, \\fIoutput\\fR, \\fIstatus\\fR (ok, failed, skipped), \\fImessage\\fR, "
          "\\fIbytes_in\\fR, \\fIbytes_out\\fR (\\-1: unknown), \\fIwidth\\fR, \\fIheight\\fR, "
          "\\fIms\\fR "
          "(total, decode, upload, filter, download, encode), \\fIdevice\\fR and \\fIjob\\fR, "
          "which names the chain "
          "and the options.\n"
          "\\fB\\-\\-resume\\fR leaves out what such a log says to be done by the same job, if the "
          "output is there "
          "in that size.\n"
          ".SH ENVIRONMENT\n",
          file);
    put_tag(file, "GPUFILTER_OPTS");
    put_line(file, "options that come before those of the command line, quoted as in a shell");
    put_tag(file, "NO_COLOR");
    put_line(file, "where set, the bar has no colour");
    put_tag(file, "TMPDIR");
    put_line(file, "where standard output is held back until a picture is complete");
}

static void put_keys(FILE *file, const struct gf_key_help *(*key_at)(int index))
{
    const struct gf_key_help *key;
    for (int i = 0; (key = key_at(i)); i++) {
        put_tag(file, key->path);
        put_line(file, key->help);
    }
}

static void put_profile(FILE *file)
{
    fputs(".SH PROFILE\n"
          "\\fB\\-\\-profile\\fR prints a row for each stage in the order of the data: decode, "
          "upload, each "
          "stage of the chain and the histograms taken for it, download, encode.\n"
          "A stage is busy while at least one lane is in it, so that \\fIbusy ms\\fR is the union "
          "of its "
          "intervals, not their sum.\n"
          "\\fIbytes\\fR are the samples that a codec made or took, the bytes copied, or those "
          "that a "
          "stage read and wrote; \\fIGB/s\\fR is bytes by busy time; \\fI% peak\\fR is of the "
          "bandwidth "
          "measured in the same run: of a copy in device memory for stages (in host memory on the "
          "CPU), of "
          "PCIe for upload and download. Codecs have none.\n"
          ".PP\n"
          "\\fIoverlap\\fR is 1 \\- (time during which any stage was busy) / (sum of the "
          "stages\\(aq busy "
          "times): 0 when one thing happened after the other, 75 % when four always ran at once. "
          "The CUDA start\\-up is in neither, and stands in a line of its own.\n"
          "The stage that bounds the run is the one with the largest busy time.\n"
          ".PP\n"
          "\\fB\\-\\-profile=json\\fR prints one object with these keys, which stay:\n",
          file);
    put_keys(file, gf_profile_report_key_at);
    fputs(".PP\n"
          "\\fB\\-\\-trace\\fR writes Chrome\\(aqs trace\\-event format: a track for the reader, "
          "for each "
          "lane and for the writer; spans of one track that overlap are put on further tracks "
          "beside it.\n",
          file);
}

static void put_lab(FILE *file, const struct gf_lab *lab)
{
    fprintf(file, ".SS %s\n", lab->name);
    gf_man_text(file, lab->summary);
    fputs(" (guide ", file);
    gf_man_text(file, lab->guide);
    fputs(").\n", file);
    for (const struct gf_param *param = lab->params; param && param->name; param++)
        put_param(file, param);
}

static void put_labs(FILE *file)
{
    fputs(".SH LABS\n"
          "\\fB\\-\\-lab\\fR lists the microbenchmarks of single techniques of the CUDA guides; "
          "\\fB\\-\\-lab=\\fIname\\fR[\\fB:\\fIkey\\fB=\\fIvalue\\fR...] runs one, "
          "\\fB\\-\\-lab=all\\fR every one, \\fB\\-\\-lab=\\fIname\\fB:help\\fR explains "
          "one.\nEach prints the guide\\(aqs figure and this GPU\\(aqs, and checks what it "
          "computes: a "
          "wrong result is an error. The GPU is that of \\fB\\-\\-device\\fR. All take these "
          "parameters (plot only where there is a curve):\n",
          file);
    for (const struct gf_param *param = gf_lab_common_params(); param->name; param++)
        put_param(file, param);
    const struct gf_lab *lab;
    for (int i = 0; (lab = gf_lab_at(i)); i++)
        put_lab(file, lab);
    fputs(
        ".PP\nWith format=json a lab is one object, all of them an array of such, with these keys, "
        "which stay:\n",
        file);
    const struct gf_key_help *key;
    for (int i = 0; (key = gf_lab_key_at(i)); i++) {
        put_tag(file, key->path);
        put_line(file, key->help);
    }
}

static void put_compare(FILE *file)
{
    fputs(".SH COMPARISON\n"
          "\\fB\\-\\-profile=compare\\fR runs each stage of the chain on the whole picture in "
          "every variant that its "
          "filter has, and each histogram that a stage wants in every way of counting, and holds "
          "the result against "
          "the CPU backend\\(aqs: one that differs by more than its filter declares is an error. "
          "No picture is written unless \\fB\\-o\\fR is given.\n"
          "Times are of the device\\(aqs clock: the median of up to 15 runs, the least and the "
          "most. \\fIwarm\\fR "
          "runs follow one another; before \\fIcold\\fR ones the second\\-level cache is flushed. "
          "\\fIGB/s\\fR "
          "counts the input once and the result once, which is the least that must move.\n"
          "A filter that was fused with its neighbours shows its variants under "
          "\\fB\\-\\-no\\-fuse\\fR.\n"
          ".PP\n"
          "The rows of the whole chain differ from the first in one setting each. \\fIestimate\\fR "
          "is the Best "
          "Practices Guide\\(aqs (9.1.2): the longer of the kernels\\(aq and the copies\\(aq time "
          "and the n\\-th part of "
          "the shorter, n being the lanes. It counts copies up and down one after the other; a GPU "
          "with two copy "
          "engines can beat it.\n"
          "Without a GPU the rows are the CPU backend\\(aqs, on one thread up to all. A filter with "
          "hand\\-written vector instructions is also timed without them (\\fIno intrinsics\\fR); "
          "those of the compiler remain.\n"
          ".PP\n"
          "\\fB\\-\\-profile=compare:json\\fR prints one object with these keys, which stay:\n",
          file);
    put_keys(file, gf_compare_key_at);
    fputs(".PP\n\\fB\\-\\-profile=compare:csv\\fR prints these columns (RFC 4180), empty where "
          "there is nothing to say:\n",
          file);
    put_keys(file, gf_compare_column_at);
}

static void put_exits(FILE *file)
{
    fputs(".SH EXIT STATUS\n", file);
    for (int code = 0; code <= GF_EXIT_MAX; code++) {
        bool first = true;
        for (int status = 0; status < GF_STATUS_COUNT; status++) {
            if (gf_exit_status(status) != code)
                continue;
            char text[16];
            snprintf(text, sizeof text, "%d", code);
            if (first)
                put_tag(file, text);
            else
                fputs("; ", file);
            gf_man_text(file, gf_status_meaning(status));
            first = false;
        }
        putc('\n', file);
    }
    fputs(
        ".TP\n\\fB129, 130, 143\\fR\nended by SIGHUP, SIGINT, SIGTERM; no output is left behind\n",
        file);
}

void gf_man_print(FILE *file)
{
    put_head(file);
    put_options(file);
    fputs(".SH FILTERS\nParameters stand in their order by position. "
          "v is a sample, M the full scale: 255, or 65535 in 16 bits.\n",
          file);
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_filter(file, filter);
    put_batches(file);
    put_profile(file);
    put_compare(file);
    put_labs(file);
    put_exits(file);
    fputs(".SH EXAMPLES\n", file);
    for (int i = 0; gf_example_at(i); i++) {
        fputs(".PP\n", file);
        gf_man_text(file, gf_example_at(i)->help);
        fputs(":\n.PP\n.RS\n.nf\n", file);
        put_line(file, gf_example_at(i)->command);
        fputs(".fi\n.RE\n", file);
    }
}
