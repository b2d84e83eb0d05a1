/* Prints the manual page, in the man macros. Options, filters and the keys of reports are printed
 * from their tables, in the words of their declarations. */
#include <string.h>

#include "base/exit_status.h"
#include "batch/archives/archive_record.h"
#include "batch/log/account.h"
#include "batch/log/batch_log.h"
#include "batch/names/output_template.h"
#include "batch/sheets/sheet.h"
#include "chain/region.h"
#include "cli/actions.h"
#include "cli/help/help.h"
#include "cli/study/study.h"
#include "codec/depth.h"
#include "gpufilter/status.h"
#include "report/info/facts.h"
#include "report/profile/profile_report.h"

static void put_regions(FILE *file)
{
    gf_man_prose(
        file,
        "Filters that keep the picture's size and go through it once also take a region, by name. "
        "Pixels beyond it keep their samples, and only the rows that it touches are filtered. What "
        "a filter makes is the same as without a region: it reads beyond it, and *equalize*, "
        "*normalize* and other filters with statistics take these of the whole picture. A filter "
        "that makes more channels gives them to the whole picture; one that makes fewer keeps the "
        "picture's.\n"
        "A shape may lie beyond the picture; WIDTHxHEIGHT+X+Y is a rectangle, too. Of shapes that "
        "overlap the one that covers a pixel most counts. A pixel becomes v + c (f - v) with the "
        "filter's result f and the coverage c; colours count by their alphas. In a rectangle c is "
        "d / feather, at most 1, with the distance d of the pixel's middle from the edge; in an "
        "ellipse d is (1 - r) times the smaller half axis, with r = 1 on the edge. A mask counts "
        "by its luma times its alpha, interpolated linearly.");
    for (const struct gf_param *param = gf_region_params; param->name; param++)
        gf_man_param(file, param);
}

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
    fputs(".PP\n", file);
    put_regions(file);
}

/* Tells which depths the formats have. */
static void put_depths(FILE *file)
{
    const struct gf_file_type *type;
    char depths[GF_DEPTHS_TEXT_SIZE];
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        gf_depths_text(type, depths);
        if (!type->instead)
            fprintf(file, "%s %s has %s", i ? ";" : ".", type->name, depths);
    }
    fputs(". Without the option a file has as many as the samples in memory, 8 or 16, but 8 after "
          "thumbnail, and an AVIF as many as its input",
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
        gf_man_tag(file, tag);
        gf_man_text(file, option->help);
        if (!strcmp(option->name, "depth"))
            put_depths(file);
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
        file, "A folder, a quoted pattern, *@*_list_ or several *-i* make a batch. A picture that "
              "fails does not stop the others, and messages come in the order of the inputs. A "
              "folder gives the files whose extension is that of a known format, sorted, without "
              "hidden files. The summary counts the other files, and *-v* names them. A link that "
              "leads nowhere fails if its name is a picture's.\n*-o* is then a folder, which keeps "
              "the names and the subfolders of a recursive search, or a template with these "
              "fields; write a brace itself twice. Missing folders are made.");
    gf_man_keys(file, gf_template_fields);
    fputs(".PP\n", file);
    gf_man_prose(
        file,
        "Two inputs that would be written to one file are refused before anything runs, as "
        "is an output that is another input. With *--shard* each part sees its own inputs "
        "only: that two parts write to one file is found only where *-o* is a single name.\n"
        "*--shard* deals the inputs out in turns. In a list a tab and the file's size in bytes "
        "may follow the name, and another tab and any text may follow the size: then each "
        "line goes to the part that has the fewest bytes so far. A line is one input, and "
        "only a folder whose name ends in / is divided. No part looks at the files of "
        "another, or keeps their names. With *-0* lines are names alone.\n*--log* appends one JSON "
        "object per line when "
        "a picture is finished. The object has these keys, which later versions keep:");
    gf_man_keys(file, gf_batch_log_keys);
    fputs(".PP\n", file);
    gf_man_prose(
        file, "*--resume* leaves out the pictures that such a log lists as done by the same "
              "job, if the output still has the logged size, and the input the logged size and "
              "time. The contents of the files that a chain names are part of the job. A line "
              "of an older version, which has no identity, counts if the output is not older "
              "than the input. A pipe is always read again; for members of an archive in a pipe "
              "a hash of the bytes tells whether they have changed.\nA pattern, as in "
              "*--resume*='part*.log', reads the logs of several parts, and *--log* names the log "
              "that gets the new lines: so a run goes on with another number of parts. Of "
              "several lines about an output the one that was finished last counts.\n"
              "*--metrics* writes the counts of the run for Prometheus' node_exporter, every few "
              "seconds and at the end: files, pictures, bytes, failures and the time of all "
              "workers by the kind of work.");
}

static void put_outputs(FILE *file)
{
    const struct gf_option *option;
    fputs(".SH SEVERAL OUTPUTS\n", file);
    gf_man_prose(file,
                 "With several *-o* every picture is decoded once for all of them. The arguments "
                 "between an *-o* and the next belong to that output: its chain, and the options "
                 "below. The arguments before the first *-o* belong to all outputs: a chain there "
                 "runs before each output's own chain, and an option there holds unless an output "
                 "gives it again. All other options belong to the run, wherever they stand.");
    fputs(".PP\n", file);
    for (int i = 0; (option = gf_option_at(i)); i++) {
        if (option->of_output)
            fprintf(file, ".B \\-\\-%s\n", option->name);
    }
    fputs(".PP\n", file);
    gf_man_prose(
        file,
        "Each file is, byte by byte, the file that a run for this output alone would write. "
        "Outputs whose chains begin alike share these stages, unless that would separate fused "
        "filters. The shared picture is held whole, on the GPU where there is room, and counts "
        "against *--memory*. Where it does not fit, each output decodes the input for itself, and "
        "so does an output that decodes a JPEG at another fraction of its size (*thumbnail*).\nIf "
        "an output fails, its picture has failed; the message names the output, and the other "
        "outputs are kept. The log has a line for each output, and *--resume*, *--skip-existing* "
        "and *--update* make the missing outputs. The times of a line begin where those of the "
        "line before end, so that the first output's line has the decoding." GF_STUDY(
            " *--profile=compare* takes one output."));
}

static void put_sheets(FILE *file)
{
    fputs(".SH SEVERAL PICTURES TO ONE\n", file);
    gf_man_prose(file,
                 "*--join* and *--sheet* make one picture of several, in the order of the inputs. "
                 "Their parameters are given as those of a filter. The inputs are files, folders, "
                 "patterns and lists, but no archives; *-o* is a single name. *--log*, *--resume*, "
                 "*--skip-existing*, *--update*, *--shard*, *--fetch*, *--store*, *--profile* and "
                 "*--trace* are refused. Pictures that fail are named, and the status is 4 or 75.");
    put_filter(file, gf_sheet_declaration(GF_SHEET_JOIN));
    put_filter(file, gf_sheet_declaration(GF_SHEET_CELLS));
}

static void put_archives(FILE *file)
{
    fputs(".SH ARCHIVES\n", file);
    gf_man_prose(
        file,
        "The input may be a tar archive, and so may each output; the other outputs are files. "
        "Members pass through in their order. A member whose name is not a picture's passes into "
        "each archive unchanged, and becomes no file. A folder as the output gets the members' "
        "folders, without .. in them. Where several members would be written to one name, the "
        "first is taken, and the others fail. A member that fails is left out of the archive.\nA "
        "link to a picture stays a link in an archive. In a folder the link becomes a picture of "
        "its own, for which the archive is read again; if the archive comes from a pipe, the link "
        "fails. A hard link to a member that is left out of an archive fails, too.\nWhat follows "
        "the end marker of an archive is left out, with a warning. An archive that ends early "
        "fails, after its members are done: with status 4 if it is a file in its place, or was "
        "fetched and has the size in the list; with 75 if it may have been cut on its way. An "
        "archive that is its own output stays as it was if anything would be left out. An archive "
        "appears as a whole, and does not appear if *--fail-fast* ends the run. *--update* and "
        "*--dry-run* are for "
        "files that go into archives, not for the members of one.\n"
        "A list, a pattern or a folder without pictures may name several archives, which one run "
        "does one after another: *-i* @shards.txt *-o* 'out/{stem}.tar'. Each gets an archive of "
        "its own. For outputs that are files, *{archive}* keeps the pictures of the archives "
        "apart. An archive that cannot be read or written fails, and the others go on. The log has "
        "a line for each output archive, and for each input archive one without an output that "
        "stands for all files.\n"
        "With *--on-failure=drop-sample* the other files of a failed picture's sample are left "
        "out, too: those next to it in the archive whose names are the same up to the first dot "
        "after the folder. With *keep* the picture is copied as it is. It counts as failed in each "
        "case.\n"
        "Beside each output archive X.tar of an input archive stands its record X.tar.json. "
        "It is written last, and only if every picture was done or is bad. *--resume* and "
        "*--skip-existing* leave out an archive whose record names the same job and the same "
        "input, and which has the size that the record states; every other archive is made "
        "anew. For outputs that are files, these options look at the files. The record is a JSON "
        "object with these keys, which later versions keep:");
    gf_man_keys(file, gf_archive_record_keys);
}

static void put_transfers(FILE *file)
{
    fputs(".SH TRANSFERS\n", file);
    gf_man_prose(
        file,
        "*--fetch*, *--store* and *--probe* are commands that move pictures or archives from and "
        "to another place, such as an object store. A command is split into words as a shell "
        "does, with quotes, but no shell runs it. In its words *{in}* is the name of an input, "
        "*{file}* a file in a folder under *$TMPDIR*, *{out}* the name of an output, *{record}* "
        "that of an archive's record. Messages, logs and records have these names, never that of "
        "*{file}*.\n"
        "Up to four commands run at once. Inputs are fetched ahead of the work, as far as "
        "*--transfer-space* allows for them and for outputs that are not stored yet; a size is "
        "the one that a list states, or that of the largest input so far. An input that is "
        "larger than the space is there alone. An output is stored when it is complete, and the "
        "record of an archive after it. An archive that gets no record, as one whose input is "
        "cut, is not stored. The line of the log is written after a picture is stored. Each chain "
        "takes names of its own: runs of two chains that store under one name at the same time, or "
        "without *--probe*, can leave the record of one beside the archive of the other.\n"
        "A fetch has failed if the file has not the size that the list states. A command that "
        "fails is tried again after 0.5 to 0.75 s, then after twice that, and so on. After "
        "*--transfer-tries* its input has failed, which makes the status 75, and the others go "
        "on. The message has the last line of the command's standard error. A command that takes "
        "longer than *--transfer-timeout* has failed; it and what it has started get SIGTERM, and "
        "after two seconds SIGKILL. A signal that ends the run ends the commands likewise; the "
        "folder is removed. The folder of a run that SIGKILL ended is removed by a later run, "
        "after an hour.\n"
        "The identity of a fetched input is its size and what a list states after the size, "
        "NAME, tab, BYTES, tab, ETAG, or a hash of its bytes. What an earlier run has done is left "
        "out, by *--probe* for archives and by *--resume* for pictures; it is not even fetched if "
        "the list has the ETAG. *--device=auto* cannot look at pictures that are still to be "
        "fetched.");
}

static void put_account(FILE *file)
{
    fputs(".SH ACCOUNTS\n", file);
    gf_man_prose(
        file, "*--report=json:*_file_ reads the logs and the records of archives that are named, "
              "and all records of a folder that is named. Of several lines and records about an "
              "output the one that was finished last counts. A list, @_LIST_, names the inputs of "
              "the run. The status is 75 if one of them is missing, 4 if an input failed, "
              "else 0. The object has these keys, which later versions keep:");
    gf_man_keys(file, gf_account_keys);
}

static void put_info(FILE *file)
{
    fputs(".SH INFO\n", file);
    gf_man_prose(file,
                 "*--info* reads headers only. For one file it prints a list of what is known, for "
                 "several a table. *--info=json* prints a line for each file, in the order "
                 "of the inputs: an object with these keys, which later versions keep. What "
                 "is not known is null. A file that cannot be read has only the keys _file_ "
                 "and _error_, and the run goes on.");
    gf_man_keys(file, gf_facts_keys);
    fputs(".PP\n", file);
    gf_man_prose(file,
                 "*--info=statistics* also decodes the picture, runs the chain if there is one, "
                 "counts frames that no header counts, and adds:");
    gf_man_keys(file, gf_levels_keys);
}

static void put_devices(FILE *file)
{
    fputs(".SH DEVICES\n", file);
    gf_man_prose(file,
                 "*--devices=json* prints one object with these keys, which later versions keep:");
    gf_man_keys(file, gf_devices_keys);
}

static void put_compare(FILE *file)
{
    fputs(".SH COMPARE\n", file);
    gf_man_prose(file, "*--compare=*_file_*:json* _other_, or *--compare=json* _file_ _other_, "
                       "prints one object with these keys, which later versions keep:");
    gf_man_keys(file, gf_likeness_keys);
}

static void put_server(FILE *file)
{
    fputs(".SH SERVER\n", file);
    gf_man_prose(
        file, "*--serve* is a process that has started the GPU and does single pictures for other "
              "runs of the same user. The server stays in the foreground until SIGINT, SIGTERM, "
              "*--serve=stop* or *--idle* ends it; it still finishes the work that it has begun. "
              "*--server=start* starts a server in the background if there is none; by default, "
              "*--server=auto*, a run uses a server that is there. *--devices* shows the server "
              "with its memory and its clients.\nA run uses a server of the same build whose user, "
              "GPU, cgroup, processors and limits are the run's own. The run opens its files, "
              "hands them to the server, and does the rest itself: outputs, messages, the log and "
              "the exit status are those of a run without a server. Batches, archives, several "
              "outputs, *--profile*, *--trace*, *--device-memory*, *--cmyk-profile*, chains that "
              "name more than 8 files, and PNM in a pipe always run without the server.\nNo run "
              "needs a server. If there is no server, or if the server is full, ends, or does not "
              "answer for 2 s, the run does the picture itself on the device that *--device* says; "
              "with *auto*, on the CPU if the CPU is done sooner than a GPU is started. A warning "
              "says so if the server had begun the picture, or has kept the run waiting.");
}

static void put_environment(FILE *file)
{
    static const struct {
        const char *name, *help;
    } variables[] = {
        {"GPUFILTER_OPTS",
         "options that come before those of the command line, quoted as in a shell"},
        {"NO_COLOR", "if set, the progress bar has no colour"},
        {"XDG_CACHE_HOME", "the folder whose subfolder gpufilter has the figures of "
                           "*--device=auto*; by default ~/.cache"},
        {"XDG_RUNTIME_DIR",
         "the folder whose subfolder gpufilter has the server's socket; by default "
         "/tmp/gpufilter-_UID_. The program uses the folder only if it belongs to the user alone"},
        {"TMPDIR",
         "the folder for the file that holds standard output until a picture is complete, and for "
         "what is transferred"},
    };
    fputs(".SH ENVIRONMENT\n", file);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        gf_man_tag(file, variables[i].name);
        gf_man_prose(file, variables[i].help);
    }
}

#define STUDY_PAGES \
    GF_STUDY("*--profile=compare:html:*_file_ does so for a comparison, *html=*_file_ for labs. " \
             "*--report=*_file_ makes such a page of reports saved as JSON and of logs, by this " \
             "version or an older one; each job of a log is a report. Reports of one kind stand " \
             "side by side, and a difference has a colour only where every run of one is faster " \
             "than every run of the other.")

static void put_profile(FILE *file)
{
    fputs(".SH PROFILE\n", file);
    gf_man_prose(
        file,
        "*--profile* prints a row for each stage in the order of the data: decode, upload, each "
        "stage of the chain and the histograms taken for it, download, encode. A stage is busy "
        "while at least one lane is in it, so that _busy ms_ is the union of its intervals, not "
        "their sum. _bytes_ are the samples that a codec made or took, the bytes copied, or those "
        "that a stage read and wrote; _GB/s_ is bytes by busy time; _% copy_ is that part of the "
        "bandwidth of a copy, measured in the same run: in device memory for stages (on the CPU in "
        "host memory, by as many threads as the run has), over PCIe for upload and download. A "
        "stage whose data stay in a cache exceeds 100. Codecs have no such percentage.\n_overlap_ "
        "is 1 - (time during which any stage was busy) / (sum of the stages' busy times): 0 when "
        "one thing happened after the other, 75 % when four always ran at once. Neither of the two "
        "contains the start of CUDA, which has a line of its own. The stage that bounds the run is "
        "the one with the largest busy time.\n*--trace* writes Chrome's trace-event format: a "
        "track for the reader, for each lane and for the writer; spans of one track that overlap "
        "are put on further tracks beside it.\n*--profile=html:*_file_ writes the same figures as "
        "a page, one file that needs no network: bars for time and bandwidth, and a timeline that "
        "the wheel and the keys +, -, 0 and the arrows zoom and move, and the picture before and "
        "after under a slider. " STUDY_PAGES
        "\n*--profile=json* prints one object with these keys, which later versions keep:");
    gf_man_keys(file, gf_profile_report_keys);
}

static void put_files(FILE *file)
{
    fputs(".SH FILES\nAn output appears complete or not at all. Until then its bytes lie in a file "
          "without a name in the same folder, or, on a file system that has no such files, in "
          "\\fB.\\fINAME\\fB.gpufilter\\-\\fIBOOT\\fB\\-\\fIPROCESS\\fB\\-\\fISTART\\fB\\-"
          "\\fIRANDOM\\fR. What is to replace a file is readable by its owner alone until it has "
          "that file\\(aqs permissions. A process that is killed by SIGKILL leaves such a file "
          "behind. A later run that writes to the folder removes it when it is not locked and its "
          "process has ended; after a restart, and from another machine, when nothing was written "
          "to it for a day.\n.PP\nSamples pass through the filters as they are, and the ICC "
          "profile is copied, unless \\fBicc\\fR, \\fBthumbnail\\fR or \\fB\\-\\-to\\-icc\\fR "
          "converts the colours. Those of CMYK and YCCK become sRGB when they are read: by the "
          "file's profile, without one by that of \\fB\\-\\-cmyk\\-profile\\fR, else by R = (255 "
          "\\- C)(255 \\- K) / 255, and a warning says so. A conversion to the profile of a press "
          "writes CMYK, as JPEG or TIFF.\n.PP\nJPEG and PNM have no alpha: a "
          "picture that still has one is laid on white, as by a last \\fBflatten=white\\fR, and a "
          "warning says so.\n.PP\n\\fB\\-\\-calibrate\\fR keeps what it measured of the machine in "
          "\\fB$XDG_CACHE_HOME/gpufilter/figures\\-\\fIHASH\\fR, a file of text for each kind of "
          "GPU, processor and build. Nothing depends on it: one that is damaged or not owned by "
          "the user counts as not there, and it may be removed at any time.\n.PP\nAn interlaced "
          "PNG is decoded as a whole, as is a JPEG of several scans (a progressive one), and "
          "\\fB\\-\\-progressive\\fR and \\fB\\-\\-optimize\\fR encode as a whole. WebP, AVIF, "
          "JPEG XL, JPEG 2000, HEIC, GIF, camera raw and BMP are always decoded and encoded as a "
          "whole. Camera raw is developed by LibRaw: with the camera's white balance, to sRGB of "
          "16 bits without brightening; the demosaic is AHD, for X\\-Trans Markesteijn's in three "
          "passes, and thumbnails are developed at half the size without a demosaic. A picture "
          "that takes more than \\fB\\-\\-memory\\fR is refused; by default the limit is three "
          "quarters of the machine's memory, or of the control group's where that has less.\n",
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
    gf_man_line(file, "The parameters of a filter are listed in their order by position. v is a "
                      "sample, M the full scale: 255, or 65535 in 16 bits.");
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++)
        put_filter(file, filter);
    put_batches(file);
    put_outputs(file);
    put_sheets(file);
    put_archives(file);
    put_transfers(file);
    put_account(file);
    put_info(file);
    put_devices(file);
    put_compare(file);
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
