/* The command line. The table of options (pipeline/options.def) declares each option's name, value,
 * range and meaning; parsing, --help, the man page and the shell completion all read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "pipeline/pipeline_internal.h"

enum gf_action {
    GF_ACTION_FILTER,
    GF_ACTION_EXPLAIN,
    GF_ACTION_HELP,
    GF_ACTION_LIST,
    GF_ACTION_DEVICES,
    GF_ACTION_CALIBRATE,
    GF_ACTION_VERSION,
    GF_ACTION_SELFTEST,
    GF_ACTION_LAB,
    GF_ACTION_REPORT,
    GF_ACTION_COMPARE,
    GF_ACTION_MAN,
    GF_ACTION_COMPLETION,
    GF_ACTION_SERVE,
    GF_ACTION_INFO,
    GF_ACTION_EXAMPLES,
};

/* The forms of --profile, --help, --list, --devices, --selftest, --serve and --info. */
enum gf_profile_form {
    GF_PROFILE_OFF,
    GF_PROFILE_TABLE,
    GF_PROFILE_JSON,
    GF_PROFILE_HTML,
    GF_PROFILE_COMPARE, /* this form and the later ones compare variants, and need no -o */
    GF_PROFILE_COMPARE_JSON,
    GF_PROFILE_COMPARE_HTML,
};
enum gf_list_form { GF_LIST_TEXT, GF_LIST_MARKDOWN };
enum gf_devices_form { GF_DEVICES_TEXT, GF_DEVICES_MEASURE, GF_DEVICES_JSON };
enum gf_selftest_extent { GF_SELFTEST_SMALL, GF_SELFTEST_FULL };

enum gf_info_form {
    GF_INFO_TABLE,
    GF_INFO_JSON,
    GF_INFO_HASH, /* this form and the later ones decode pictures; it is a table on a terminal, else
                     JSON */
    GF_INFO_HASH_TABLE,
    GF_INFO_HASH_JSON,
    GF_INFO_STATISTICS, /* likewise; this form and the later ones count levels */
    GF_INFO_STATISTICS_TABLE,
    GF_INFO_STATISTICS_JSON,
};

enum gf_serve_form { GF_SERVE_BEGIN, GF_SERVE_STOP };

enum gf_shell { GF_SHELL_BASH, GF_SHELL_ZSH, GF_SHELL_FISH };
enum gf_progress_form {
    GF_PROGRESS_AUTO,
    GF_PROGRESS_BAR,
    GF_PROGRESS_LINES,
    GF_PROGRESS_JSON,
    GF_PROGRESS_NONE
};

enum { GF_COMMAND_INPUTS_MAX = 2048, GF_COMMAND_DEVICES_MAX = 64 };

/* One of several outputs of a command line. */
struct gf_command_output {
    /* Values of -o, the chain, --chain-file and --to-icc; NULL: not given. */
    const char *output, *chain, *chain_file, *to_icc;
    /* The options given for this output, bits as in struct gf_command. */
    uint64_t given;
    /* The values of the options for this output: those for all outputs, changed by its own. */
    struct gf_options options;
    char *made; /* a chain joined from several parts, from malloc(); else NULL */
};

/* A command line after parsing. The strings belong to argv. */
struct gf_command {
    enum gf_action action;
    int form; /* the form that the value of --list, --devices and the like chooses */
    const struct gf_filter *topic;    /* the filter given to --help; or NULL */
    const struct gf_topic *subject;   /* the topic given to --help; or NULL */
    const struct gf_option *about;    /* the option given to --help; or NULL */
    const char *lab, *examples, *man; /* the values of --lab, --examples and --man; or NULL */
    const char *likeness;             /* the value of --compare; or NULL */
    const char *input[GF_COMMAND_INPUTS_MAX]; /* the pictures, or the files that --report reads */
    int inputs;
    const char *trace, *log, *resume, *metrics; /* files; NULL: not given */
    const char *fetch, *store, *probe;          /* commands for transfers; NULL: not given */
    const char *join, *sheet;                   /* values of these options; NULL: not given */
    int transfer_tries, transfer_timeout;       /* the timeout in seconds; 0: not given */
    uint64_t transfer_space;                    /* bytes; 0: not given */
    /* These four belong to the only output, or to the first of several. */
    const char *output, *chain, *chain_file, *to_icc;
    /* `all` has the options and the chain before the first of several -o, which are for all
     * outputs; `more` has the outputs after the first. */
    struct gf_command_output all, more[GF_PIPELINE_OUTPUTS_MAX - 1];
    int more_outputs;
    /* The first output's chain if it was joined from several parts, from malloc(); else NULL. */
    char *made;
    double fps; /* the value of --fps; 0: not given */
    /* The lines of --set, each with those before it, from malloc(); the members point to some. */
    char **lines;
    size_t lines_count, lines_room;
    bool recursive, nul_separated, skip_existing, update, in_place, fail_fast, dry_run;
    int shard, shards; /* part `shard` of `shards`, from --shard; 0: not given */
    int progress;      /* the form of the progress: enum gf_progress_form */
    int device[GF_COMMAND_DEVICES_MAX];
    int devices;      /* the number of devices named, as by --device=cuda:0,1 */
    bool all_devices; /* all CUDA devices are used: --device=cuda:all */
    int server;       /* whether a server is used: enum gf_server_use */
    const char *raw;  /* the value of --raw, about frames without headers; or NULL */
    int on_failure;   /* what a failed picture leaves: enum gf_on_failure */
    bool duplicates;  /* --duplicates is given */
    int distance;     /* its value */
    int idle_s;       /* seconds after which an idle server ends; 0: not given */
    int profile;      /* form of --profile: enum gf_profile_form */
    /* The FILE of --profile=html:FILE, of similar options or of --report; or NULL. */
    const char *page;
    bool verbose, quiet;
    bool untrusted; /* the pictures are from strangers */
    /* The options given on the command line for the only or first output: bit i is the option with
     * index i in the table. */
    uint64_t given;
    struct gf_options options;
};

/* For --untrusted: sets limits for pictures from strangers for options that the command line does
 * not set. */
void gf_command_distrust(struct gf_command *command);

struct gf_choice {
    /* The value's name. A second name of the same value is an alias, which help leaves out. */
    const char *name;
    int value;
};
/* The end of the name of a choice that takes a file's name, as in "html:FILE". */
#define GF_CHOICE_FILE ":FILE"

struct gf_option {
    const char *group; /* the heading above the first option of a group, else NULL */
    const char *name;
    char letter; /* the letter of the short form, or 0 */
    const char
        /* What help calls the value; NULL: no value, or help lists the choices. */
        *argument;
    enum gf_option_type type;
    bool optional;         /* the value may be left out */
    bool of_output;        /* if there are several -o, the option belongs to the one before it */
    enum gf_action action; /* what the program does instead of filtering a picture */
    /* The value that a switch stores, or any other option if its value is left out. */
    int implied;
    double least, greatest;
    const struct gf_choice *choices;   /* the option's choices; the last has the name NULL */
    const char *(*word_at)(int index); /* words that the value may begin with, for completion */
    size_t offset;       /* offset in struct gf_command of the member that the option sets */
    size_t file_offset;  /* offset of the member for the FILE of a choice */
    size_t bare_offset;  /* offset of the bool for whether a number was left out */
    size_t given_offset; /* offset of the bool for whether the option is given */
    /* Offset of the bool that the value behind a switch sets, which is its `argument`; "no" also
     * unsets the switch. 0: it has no value. */
    size_t value_offset;
    const char *help;
};

/* Returns the number of outputs, at least one. gf_command_output_at() returns an output; it copies
 * the first one from the command itself. */
static inline int gf_command_outputs(const struct gf_command *command)
{
    return 1 + command->more_outputs;
}
struct gf_command_output gf_command_output_at(const struct gf_command *command, int index);

/* The outputs of a command line while it is being read. */
struct gf_command_outputs {
    int begun;                      /* the number of -o read so far */
    struct gf_command_output first; /* the first output, set when a second one begins */
};
/* Handles an -o, which begins another output. Options before the first -o are for all outputs: the
 * options of each output begin as a copy of them. */
enum gf_status gf_command_begin_output(struct gf_command *command,
                                       struct gf_command_outputs *outputs, const char *name,
                                       struct gf_error *error) GF_CHECKED;
/* Ends the last output after the last argument. If there is a single output, options before and
 * after -o mean the same. */
enum gf_status gf_command_end_outputs(struct gf_command *command,
                                      const struct gf_command_outputs *outputs,
                                      struct gf_error *error) GF_CHECKED;
enum gf_status gf_command_fail_chains(const char *first, const char *second,
                                      struct gf_error *error) GF_CHECKED;

/* Joins the chain of each output from up to three parts: the chain for all outputs, the output's
 * own chain (each of the two may be in a file), and --to-icc. gf_command_free() frees the chains.
 */
enum gf_status gf_command_join_chains(struct gf_command *command,
                                      struct gf_error *error) GF_CHECKED;
void gf_command_free(struct gf_command *command);

/* Returns the option at `index`, in the order of --help; NULL past the last one. */
const struct gf_option *gf_option_at(int index);

/* Return the options, and set the command, that an empty command line gives. */
struct gf_options gf_command_options(void);
void gf_command_default(struct gf_command *command);
/* Stores the value of an option. If `value` is NULL, stores the value that the option implies
 * (option_value.c). */
enum gf_status gf_option_set(const struct gf_option *option, const char *value,
                             struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Checks options that depend on each other (command_check.c). */
enum gf_status gf_command_check(const struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;

/* Reads the arguments from argv[1] on. Any error has the status GF_ERROR_USAGE, except for an
 * option that this build lacks: GF_ERROR_UNAVAILABLE. */
enum gf_status gf_command_parse(int argc, char *const *argv, struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;
/* Reads options from the environment first; options of the command line then replace them. */
enum gf_status gf_command_parse_after(int count, char *const *environment, int argc,
                                      char *const *argv, struct gf_command *command,
                                      struct gf_error *error) GF_CHECKED;

/* Writes an option without its short form: "--device=auto|cpu|cuda[:N]",
 * "--profile[=table|json|...]". */
void gf_option_usage(const struct gf_option *option, char *text, size_t size);
/* Writes the option's range and default: "1..100; default 90"; "" if it has neither. */
void gf_option_limits(const struct gf_option *option, char *text, size_t size);
/* Writes the choices without aliases, as in "png, jpeg, pnm, pam", separated by `separator`; then
 * `more`. */
void gf_option_choices(const struct gf_choice *choices, const char *separator, const char *more,
                       char *text, size_t size);
/* Writes a number of the type as a user writes it: "1G". */
void gf_option_number(double value, enum gf_option_type type, char *text, size_t size);
static inline bool gf_option_has_suffix(enum gf_option_type type)
{
    return type == GF_OPTION_COUNT || type == GF_OPTION_SIZE;
}
/* Whether values of the type are numbers within the option's least and greatest. */
static inline bool gf_option_is_number(enum gf_option_type type)
{
    return type == GF_OPTION_INT || type == GF_OPTION_NUMBER || gf_option_has_suffix(type);
}
/* Whether the option's value is the name of a file. */
static inline bool gf_option_takes_file(const struct gf_option *option)
{
    return option->type == GF_OPTION_FILE || option->type == GF_OPTION_INPUT ||
           option->type == GF_OPTION_OUTPUT;
}
/* Whether the next argument can be the value of an option whose value may be left out: "--help
 * blur". */
bool gf_option_takes_next(const struct gf_option *option);

/* Returns the value of an option that a word from other programs means; NULL if there is none. */
const char *gf_value_synonym(const char *word);

/* Splits the text into words as a shell does, with quotes; words[count] is NULL. One free(words)
 * releases the words and their text. */
enum gf_status gf_shell_words_split(const char *text, char ***words, int *count,
                                    struct gf_error *error) GF_CHECKED;
