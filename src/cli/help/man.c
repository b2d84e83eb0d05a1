/* The manual page, in the man macros. What a declaration says stands there: options, filters
 * and the keys of reports are printed from their tables. */
#include <string.h>

#include "base/exit_status.h"
#include "batch/log/batch_log.h"
#include "batch/names/output_template.h"
#include "cli/help/help.h"
#include "gpufilter/status.h"
#include "cli/help/man_parts.h"
#include "cli/study/study.h"
#include "report/profile/profile_report.h"
#include "report/text.h"

static void put_head(FILE *file)
{
    fprintf(file, ".TH GPUFILTER 1 \"\" \"gpufilter %s\" \"User commands\"\n", gf_version());
    fputs(".SH NAME\n", file);
    gf_man_prose(
        file, "gpufilter - filter pictures on an NVIDIA GPU, or on the CPU with the same result");
    fputs(".SH SYNOPSIS\n.B gpufilter\n", file);
    gf_man_prose(file, "*-i* _file_ *-o* _file_ [_option_]... [_chain_]");
    fputs(".SH DESCRIPTION\n", file);
    gf_man_prose(file,
                 "Reads a picture, runs it through a chain of filters and writes the result, "
                 "complete or not at all. Without a chain the picture is only converted to the "
                 "format of the output. The result does not depend on the device, nor on the "
                 "number of lanes, bands or threads. Options and the chain come in any order; "
                 "*--* ends the options, and a value follows its option after \"=\" or as the "
                 "next argument.");
    fputs(".SH CHAINS\n", file);
    gf_man_prose(
        file, "A chain is filters separated by commas: _name_, or _name_*=*_value_ with values "
              "separated by colons. The first parameters go by position, any by name as "
              "_key_*=*_value_; nothing goes by position after a name. Rows of a matrix are "
              "separated by \"/\" or \"|\", its numbers by spaces. A value that holds a comma or "
              "a colon is quoted with '' or \"\", from its first character on, or escaped with a "
              "backslash; quotes elsewhere are characters as any other.\n"
              "Adjacent filters that need only the pixel itself are evaluated together and "
              "rounded once.");
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
        gf_man_tag(file, tag);
        gf_man_text(file, option->help);
        if (*limits) {
            fputs("\n(", file);
            gf_man_text(file, limits);
            putc(')', file);
        }
        putc('\n', file);
    }
}

static void put_filter(FILE *file, const struct gf_filter *filter)
{
    char example[160];
    fprintf(file, ".SS %s\n", gf_filter_name(filter));
    gf_man_text(file, gf_filter_summary(filter));
    if (gf_filter_alias(filter))
        fprintf(file, ".\nAlso called %s", gf_filter_alias(filter));
    fputs(".\n", file);
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++)
        gf_man_param(file, param);
    gf_help_example(filter, example, sizeof example);
    fputs(".PP\nExample:\n\\fB", file);
    gf_man_text(file, example);
    fputs("\\fR\n", file);
    if (!gf_filter_definition(filter))
        return;
    fputs(".PP\nDefinition:\n", file);
    gf_man_line(file, gf_filter_definition(filter));
}

static void put_batches(FILE *file)
{
    fputs(".SH BATCHES\n", file);
    gf_man_prose(
        file, "With a folder, a quoted pattern, *@*_list_ or several *-i* every picture goes its "
              "own way: one that fails does not stop the others, and the order of what is said "
              "is that of the inputs. A folder gives the files whose extension is that of a known "
              "format, sorted, without hidden ones. How many others there are the summary says, "
              "*-v* names them, and a link that leads nowhere fails if its name is a picture's.\n"
              "*-o* is then a folder, which keeps the names and the subfolders of a recursive "
              "search, or a template with these fields; a brace itself is doubled. Missing "
              "folders are made.");
    gf_man_keys(file, gf_template_field_at);
    fputs(".PP\n", file);
    gf_man_prose(file,
                 "Two inputs that would be written to one file are refused before anything runs, "
                 "as is an output that is another input.\n"
                 "*--log* appends one JSON object a line when a picture is finished, with these "
                 "keys, which stay:");
    gf_man_keys(file, gf_batch_log_key_at);
    fputs(".PP\n", file);
    gf_man_prose(
        file, "*--resume* leaves out what such a log says to be done by the same job, if the "
              "output is there in that size and the input has the size and the time of then. The "
              "contents of the files that a chain names are part of the job. A line of an older "
              "version, which has no identity, counts where the output is no older than the input. "
              "A pipe is always read again; of the members of an archive from one the bytes tell "
              "whether they are still those of then.");
}

static void put_outputs(FILE *file)
{
    const struct gf_option *option;
    fputs(".SH SEVERAL OUTPUTS\n", file);
    gf_man_prose(
        file, "With several *-o* every picture is decoded once for all of them. What stands behind "
              "an *-o*, up to the next, is of that output: its chain, and these options. What "
              "stands before the first is of all: a chain there comes before each output's own, "
              "and an option holds where an output does not give it again. All other options are "
              "of the run, wherever they stand.");
    fputs(".PP\n", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->of_output)
            fprintf(file, ".B \\-\\-%s\n", option->name);
    }
    fputs(".PP\n", file);
    gf_man_prose(
        file, "Each file is the one that a run of its own would write, byte by byte. Outputs whose "
              "chains begin alike have these stages in common, as far as no fused filters are "
              "parted. What they have in common is held whole, on the GPU where there is room, and "
              "counts against *--memory*: where it does not fit, each output decodes for itself, "
              "as do those that take another fraction of a JPEG (*thumbnail*).\n"
              "An output that fails is named, and fails its picture; the others are kept. The log "
              "has a line for each output, and *--resume*, *--skip-existing* and *--update* make "
              "those that are missing. The times of a line are those since the line before: the "
              "decoding is the first output's." GF_STUDY(" *--profile=compare* has one output."));
    fputs(".SH ARCHIVES\n", file);
    gf_man_prose(
        file, "The input may be a tar archive, and each output one or files: an archive goes into "
              "archives and files, and files go into archives. Members stream through in their "
              "order; what is no picture by its name passes into each archive untouched, and "
              "becomes no file. A folder as the output has the members' folders, without .. "
              "in them. Of members that would be written to one name the first is taken, and the "
              "others fail. What fails is left out of the archive that it was for.\n"
              "A link to a picture stays a link in an archive. In files it becomes a picture of "
              "its own, for which the archive is read again: one from a pipe cannot be, and the "
              "link fails. A hard link to a member that is left out of an archive fails, too.\n"
              "What follows the end marker of an archive is left out, with a warning. One without "
              "an end marker may have been cut: it fails, after its members are done. One that is "
              "its own output stays as it was where anything would be left out of it.\n"
              "An archive appears when the run ends, as a whole, and not where *--fail-fast* ends "
              "it. So *--resume* and *--skip-existing* look at files only: the archives beside "
              "them are made anew. *--update*, *--shard* and *--dry-run* are for files that go "
              "into archives, not for the members of one.");
}

static void put_server(FILE *file)
{
    fputs(".SH SERVER\n", file);
    gf_man_prose(
        file,
        "*--serve* is a process that has started the GPU and does single pictures for other "
        "runs of the same user. It stays in the foreground until SIGINT, SIGTERM, "
        "*--serve=stop* or *--idle* ends it, and then does what it has begun. "
        "*--server=start* starts one in the background where there is none; by default, "
        "*--server=auto*, a run uses one that is there. *--devices* shows it, with its memory "
        "and its clients.\n"
        "A run uses a server of the same build whose user, GPU, cgroup, processors and limits "
        "are its own. It opens its files, hands them to the server, and does the rest itself: "
        "outputs, messages, the log and the exit status are those of a run without a server. "
        "Batches, archives, several outputs, *--profile*, *--trace*, *--device-memory*, "
        "*--cmyk-profile*, chains that name more than 8 files, and PNM in a pipe are not "
        "handed over.\n"
        "No run needs a server. Where there is none, where it is full, ends, or does not "
        "answer for 2 s, the run does the picture itself, by what *--device* says; with "
        "*auto*, on the CPU where that is done sooner than a GPU is started. A warning says "
        "so if the server had begun, or has kept the run waiting.");
}

static void put_environment(FILE *file)
{
    static const struct {
        const char *name, *help;
    } variables[] = {
        {"GPUFILTER_OPTS",
         "options that come before those of the command line, quoted as in a shell"},
        {"NO_COLOR", "where set, the bar has no colour"},
        {"XDG_CACHE_HOME",
         "the folder whose subfolder gpufilter keeps the figures of *--device=auto*; without it "
         "~/.cache"},
        {"XDG_RUNTIME_DIR",
         "the folder whose subfolder gpufilter has the server's socket; without it "
         "/tmp/gpufilter-_UID_. It is used only if it is the user's alone"},
        {"TMPDIR", "where standard output is held back until a picture is complete"},
    };
    fputs(".SH ENVIRONMENT\n", file);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        gf_man_tag(file, variables[i].name);
        gf_man_prose(file, variables[i].help);
    }
}

#define STUDY_PAGES \
    GF_STUDY("*--profile=compare:html:*_file_ does so for a comparison, *html=*_file_ for labs. " \
             "*--report=*_file_ makes such a page of what was saved as JSON and of logs, by " \
             "this version or an older one; the jobs of a log are a report each. Reports of one " \
             "kind stand side by side, and a difference has a colour only where every run of one " \
             "is faster than every run of the other.")

static void put_profile(FILE *file)
{
    fputs(".SH PROFILE\n", file);
    gf_man_prose(
        file,
        "*--profile* prints a row for each stage in the order of the data: decode, upload, "
        "each stage of the chain and the histograms taken for it, download, encode. A "
        "stage is busy while at least one lane is in it, so that _busy ms_ is the union "
        "of its intervals, not their sum. _bytes_ are the samples that a codec made or "
        "took, the bytes copied, or those that a stage read and wrote; _GB/s_ is bytes by "
        "busy time; _% copy_ is of the bandwidth of a copy, measured in the same run: in "
        "device memory for stages (on the CPU in host memory, by as many threads as the run has), "
        "over PCIe for upload and download. A stage whose data stay in a cache passes 100. Codecs "
        "have none.\n"
        "_overlap_ is 1 - (time during which any stage was busy) / (sum of the stages' "
        "busy times): 0 when one thing happened after the other, 75 % when four always "
        "ran at once. The CUDA start-up is in neither, and stands in a line of its own. "
        "The stage that bounds the run is the one with the largest busy time.\n"
        "*--trace* writes Chrome's trace-event format: a track for the reader, for each "
        "lane and for the writer; spans of one track that overlap are put on further "
        "tracks beside it.\n"
        "*--profile=html:*_file_ writes the same figures as a page, one file that asks no "
        "network for anything: bars for time and bandwidth, and a timeline that the wheel "
        "and the keys +, -, 0 and the "
        "arrows zoom and move, and the picture before and after under a slider. " STUDY_PAGES
        "\n*--profile=json* prints one object with these keys, which stay:");
    gf_man_keys(file, gf_profile_report_key_at);
}

static void put_files(FILE *file)
{
    fputs(".SH FILES\n"
          "An output appears complete or not at all. Until then its bytes lie in a file without a "
          "name in the same folder, or, on a file system that has no such files, in "
          "\\fB.\\fINAME\\fB.gpufilter\\-\\fIBOOT\\fB\\-\\fIPROCESS\\fB\\-"
          "\\fISTART\\fB\\-\\fIRANDOM\\fR. What is to replace a file is readable by its owner "
          "alone until it has that file\\(aqs permissions. A process that is killed by SIGKILL "
          "leaves "
          "such a file behind. A later run that writes to the folder removes it when it is not "
          "locked and its process has ended; after a restart, and from another machine, when "
          "nothing was written to it for a day.\n"
          ".PP\n"
          "Samples pass through the filters as they are, and the ICC profile is copied, unless "
          "\\fBicc\\fR, \\fBthumbnail\\fR or \\fB\\-\\-to\\-icc\\fR converts the colours. Those "
          "of CMYK and YCCK become sRGB when they are read: by the file's profile, without one by "
          "that of \\fB\\-\\-cmyk\\-profile\\fR, else by R = (255 \\- C)(255 \\- K) / 255, and a "
          "warning says so.\n"
          ".PP\n"
          "JPEG and PNM have no alpha: a picture that still has one is laid on white, as by a last "
          "\\fBflatten=white\\fR, and a warning says so.\n"
          ".PP\n"
          "\\fB\\-\\-calibrate\\fR keeps what it measured of the machine in "
          "\\fB$XDG_CACHE_HOME/gpufilter/figures\\-\\fIHASH\\fR, a file of text for each kind of "
          "GPU, processor and build. Nothing depends on it: one that is damaged or not owned by "
          "the user counts as not there, and it may be removed at any time.\n"
          ".PP\n"
          "An interlaced PNG is decoded as a whole, as is a JPEG of several scans (a progressive "
          "one), and \\fB\\-\\-progressive\\fR and \\fB\\-\\-optimize\\fR encode as a whole. "
          "WebP, AVIF, JPEG XL, HEIC and GIF are always coded so. Without \\fB\\-\\-memory\\fR "
          "there "
          "is no limit to that but \\fB\\-\\-max\\-pixels\\fR; a picture that takes more than "
          "\\fB\\-\\-memory\\fR is refused.\n",
          file);
}

static void put_exits(FILE *file)
{
    fputs(".SH EXIT STATUS\n", file);
    for (int code = 0; code < 128; code++) {
        char text[16];
        if (!gf_exit_meaning(code))
            continue;
        snprintf(text, sizeof text, "%d", code);
        gf_man_tag(file, text);
        gf_man_line(file, gf_exit_meaning(code));
    }
    gf_man_tag(file, "129, 130, 143");
    gf_man_line(file, "ended by SIGHUP, SIGINT, SIGTERM; no output is left behind");
}

void gf_man_print(FILE *file)
{
    put_head(file);
    put_options(file);
    fputs(".SH FILTERS\n", file);
    gf_man_line(file,
                "Parameters stand in their order by position. v is a sample, M the full scale: "
                "255, or 65535 in 16 bits.");
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_filter(file, filter);
    put_batches(file);
    put_outputs(file);
    put_server(file);
    put_environment(file);
    put_profile(file);
    put_files(file);
    put_exits(file);
    fputs(".SH EXAMPLES\n", file);
    for (int i = 0; gf_example_at(i); i++) {
        fputs(".PP\n", file);
        gf_man_text(file, gf_example_at(i)->help);
        fputs("\n.PP\n.RS\n.nf\n", file);
        gf_man_line(file, gf_example_at(i)->command);
        fputs(".fi\n.RE\n", file);
    }
    gf_study_man(file);
}
