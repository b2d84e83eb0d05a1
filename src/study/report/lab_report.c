/* Prints the list of labs, the help of a lab, and its result as a table and as JSON, puts labs on
 * the page, and draws a lab's plot by gnuplot. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline.h"
#include "report/text.h"
#include "study/report/study_report.h"

enum { INDENT = 20 };

/* The texts that labs cite by their numbers, from 1 on. */
static const char *const guides[] = {
    "Legresley, CUDA Performance Optimization",
    "CME 213, lecture on the transpose",
    "Performance Issues",
    "CUDA C++ Best Practices Guide",
    "CUDA Programming Guide, Writing SIMT Kernels",
};

void gf_lab_list(FILE *file)
{
    const struct gf_lab *lab;
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        char text[400];
        struct gf_param params[GF_LAB_PARAMS_MAX];
        snprintf(text, sizeof text, "%s (guide %s)", lab->summary, lab->guide);
        const int column = fprintf(file, "%-*s ", INDENT - 1, lab->name);
        gf_text_wrap(file, text, column, INDENT);
        gf_lab_params(lab, params);
        gf_params_text(params, text, sizeof text);
        fprintf(file, "%*s", INDENT, "");
        gf_text_wrap(file, text, INDENT, INDENT);
    }
    fputs("\nGuides:\n", file);
    for (int i = 0; i < (int)(sizeof guides / sizeof *guides); i++)
        fprintf(file, "  %d  %s\n", i + 1, guides[i]);
    fputs("\n--lab=NAME[:KEY=VALUE...] runs one, --lab=all every one; --lab=NAME:help explains\n",
          file);
}

void gf_lab_help(FILE *file, const struct gf_lab *lab)
{
    struct gf_param params[GF_LAB_PARAMS_MAX];
    gf_lab_params(lab, params);
    fprintf(file, "%s: %s\nGuide: %s", lab->name, lab->summary, lab->guide);
    fprintf(file, "%s%s\n", lab->figure ? "; " : "", lab->figure ? lab->figure : "");
    if (lab->axes.x)
        fprintf(file, "Curve: %s (%s) along %s%s%s%s\n", lab->axes.y, lab->axes.y_unit, lab->axes.x,
                *lab->axes.x_unit ? " (" : "", lab->axes.x_unit, *lab->axes.x_unit ? ")" : "");
    fputs("\nParameters, in their order by position:\n", file);
    for (const struct gf_param *param = params; param->name; param++)
        gf_param_print(file, param);
}

/* Writes a value of the table: "12.4"; "-" for NaN. */
static void lab_number(double value, const struct gf_lab_column *column, char *text, size_t size)
{
    const bool part = !strcmp(column->unit, "%");
    const double least = 0.5 * pow(10, -column->decimals);
    if (isnan(value))
        snprintf(text, size, "-");
    else if (fabs(value) >= 1e9 || (value && fabs(value) < least && !part))
        snprintf(text, size, "%.3g", value); /* an error of 1e-7 must not appear as 0 */
    else
        snprintf(text, size, "%.*f", column->decimals, value);
}

static int label_width(const struct gf_lab_result *result)
{
    int width = gf_text_widest(0, result->rows_name);
    for (int i = 0; i < result->rows; i++)
        width = gf_text_widest(width, result->row[i].label);
    return width;
}

static int column_width(const struct gf_lab *lab, const struct gf_lab_result *result, int column)
{
    const struct gf_lab_column *const at = &lab->columns[column];
    int width = gf_text_widest(gf_text_widest(5, at->name), at->unit);
    for (int i = 0; i < result->rows; i++) {
        char text[64];
        lab_number(result->row[i].value[column], at, text, sizeof text);
        width = gf_text_widest(width, text);
    }
    return width;
}

static void put_rows(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    const int columns = gf_lab_columns(lab), first = label_width(result);
    int width[GF_LAB_COLUMNS_MAX];
    fprintf(file, "  %-*s", first, result->rows_name);
    for (int i = 0; i < columns; i++)
        fprintf(file, "  %*s", width[i] = column_width(lab, result, i), lab->columns[i].name);
    fprintf(file, "\n  %-*s", first, "");
    for (int i = 0; i < columns; i++)
        fprintf(file, "  %*s", width[i], lab->columns[i].unit);
    putc('\n', file);
    for (int k = 0; k < result->rows; k++) {
        const struct gf_lab_row *const row = &result->row[k];
        fprintf(file, "  %-*s", first, row->label);
        for (int i = 0; i < columns && gf_lab_has_values(lab, row); i++) {
            char text[64];
            lab_number(row->value[i], &lab->columns[i], text, sizeof text);
            fprintf(file, "  %*s", width[i], text);
        }
        fprintf(file, "%s%s\n", *row->reason ? "  " : "", row->reason);
    }
}

static const char *remark_name(enum gf_lab_remark_kind kind)
{
    static const char *const names[] = {
        [GF_LAB_RIGHT] = "right",     [GF_LAB_WRONG] = "wrong", [GF_LAB_AGREES] = "agrees",
        [GF_LAB_DIFFERS] = "differs", [GF_LAB_NOTE] = "note",
    };
    return names[kind];
}

void gf_lab_table(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    fprintf(file, "%s: %s\n", lab->name, lab->summary);
    fprintf(file, "  guide %s%s%s\n", lab->guide, lab->figure ? "; " : "",
            lab->figure ? lab->figure : "");
    fprintf(file, "  here  %s; %s; %.2f s\n\n", result->device, result->settings,
            result->elapsed_s);
    put_rows(file, lab, result);
    if (result->remarks)
        putc('\n', file);
    for (int i = 0; i < result->remarks; i++)
        fprintf(file, "  %-7s %s\n", remark_name(result->remark[i].kind), result->remark[i].text);
}

/* ---- as JSON; the manual prints this list of keys ---- */

const struct gf_key_help gf_lab_keys[] = {
    {"version", "of the program, a string"},
    {"lab", "the lab's name"},
    {"summary", "what it teaches"},
    {"guide", "number of the guide, and section"},
    {"figure", "the guide's figure on its hardware, or null"},
    {"device", "what it ran on"},
    {"settings", "the values of its parameters"},
    {"elapsed_s", "duration of the whole lab"},
    {"rows_name", "the heading over the labels of the rows"},
    {"columns", "a list; of each: name, unit, decimals (of the table)"},
    {"rows",
     "a list; of each: label, x (its place on the plot's axis, or null), values (a number or null "
     "for each column), reason (a remark, or why there are no values; or null)"},
    {"remarks", "a list; of each: kind, text"},
    {"remarks.kind",
     "right or wrong: a computed result that was checked; agrees or differs: a claim of "
     "the guide beside this GPU's figure; note"},
    {0},
};

/* Writes a text. An empty text becomes null. */
static void put_text(struct gf_json *json, const char *key, const char *text)
{
    gf_json_string(json, key, text && *text ? text : NULL);
}

static void put_remark(struct gf_json *json, const struct gf_lab_remark *remark)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "kind", remark_name(remark->kind));
    put_text(json, "text", remark->text);
    gf_json_end(json);
}

static void put_column(struct gf_json *json, const struct gf_lab_column *column)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "name", column->name);
    put_text(json, "unit", column->unit);
    gf_json_number(json, "decimals", column->decimals, 0);
    gf_json_end(json);
}

static void put_row(struct gf_json *json, int columns, const struct gf_lab_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    put_text(json, "label", row->label);
    gf_json_figure(json, "x", row->x);
    gf_json_array(json, "values", GF_JSON_INLINE);
    for (int i = 0; i < columns; i++)
        gf_json_figure(json, NULL, row->value[i]);
    gf_json_end(json);
    put_text(json, "reason", row->reason);
    gf_json_end(json);
}

void gf_lab_json(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    put_text(&json, "version", gf_version());
    put_text(&json, "lab", lab->name);
    put_text(&json, "summary", lab->summary);
    put_text(&json, "guide", lab->guide);
    put_text(&json, "figure", lab->figure);
    put_text(&json, "device", result->device);
    put_text(&json, "settings", result->settings);
    gf_json_figure(&json, "elapsed_s", result->elapsed_s);
    put_text(&json, "rows_name", result->rows_name);
    gf_json_array(&json, "columns", GF_JSON_LINES_OPEN);
    for (int i = 0; i < gf_lab_columns(lab); i++)
        put_column(&json, &lab->columns[i]);
    gf_json_end(&json);
    gf_json_array(&json, "rows", GF_JSON_LINES_OPEN);
    for (int i = 0; i < result->rows; i++)
        put_row(&json, gf_lab_columns(lab), &result->row[i]);
    gf_json_end(&json);
    gf_json_array(&json, "remarks", GF_JSON_LINES_OPEN);
    for (int i = 0; i < result->remarks; i++)
        put_remark(&json, &result->remark[i]);
    gf_json_end(&json);
    gf_json_end(&json);
}

/* ---- on the page ---- */

void gf_labs_page(struct gf_page *page, const struct gf_lab_found *found, int count)
{
    FILE *const file = gf_page_part(page, "labs", "");
    for (int i = 0; i < count; i++) {
        putc(i ? ',' : '[', file);
        gf_lab_json(file, found[i].lab, found[i].result);
    }
    fputs(count ? "]" : "[]", file);
    gf_lab_plots_page(page);
}

static void put_mark(struct gf_json *json, const struct gf_lab_mark *mark)
{
    gf_json_object(json, NULL, GF_JSON_COMPACT);
    put_text(json, "name", mark->name);
    put_text(json, "column", mark->column);
    put_text(json, "row", mark->row);
    gf_json_figure(json, "value", mark->value);
    gf_json_end(json);
}

void gf_lab_plots_page(struct gf_page *page)
{
    struct gf_json json = gf_json_begin(gf_page_part(page, "guides", ""));
    gf_json_array(&json, NULL, GF_JSON_COMPACT);
    for (int i = 0; i < (int)(sizeof guides / sizeof *guides); i++)
        gf_json_string(&json, NULL, guides[i]);
    gf_json_end(&json);
    json = gf_json_begin(gf_page_part(page, "plots", ""));
    const struct gf_lab *lab;
    gf_json_object(&json, NULL, GF_JSON_LINES);
    for (int i = 0; (lab = gf_lab_at(i)); i++) {
        gf_json_object(&json, lab->name, GF_JSON_COMPACT);
        put_text(&json, "x", lab->axes.x);
        put_text(&json, "x_unit", lab->axes.x_unit);
        put_text(&json, "y", lab->axes.y);
        put_text(&json, "y_unit", lab->axes.y_unit);
        gf_json_bool(&json, "log_x", lab->axes.form & GF_LAB_LOG_X);
        gf_json_bool(&json, "log_y", lab->axes.form & GF_LAB_LOG_Y);
        gf_json_bool(&json, "bars", lab->axes.form & GF_LAB_BARS);
        gf_json_array(&json, "marks", GF_JSON_COMPACT);
        for (const struct gf_lab_mark *mark = lab->marks; mark->name; mark++)
            put_mark(&json, mark);
        gf_json_end(&json);
        gf_json_end(&json);
    }
    gf_json_end(&json);
}

/* ---- the plot ----
 *
 * The script goes to gnuplot's standard input, and the picture comes from its standard output, so
 * that neither gnuplot nor a shell sees the name of a file. */

extern char **environ;

/* Writes a string in double quotes. Quotes, backslashes and newlines in it become ', because
 * gnuplot would interpret them. */
static void put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++)
        putc(*text == '"' || *text == '\\' || *text == '\n' ? '\'' : *text, file);
    putc('"', file);
}

void gf_lab_data(FILE *file, const struct gf_lab *lab, const struct gf_lab_result *result)
{
    fprintf(file, "# %s on %s\n# label, %s (%s)", lab->name, result->device, lab->axes.x,
            lab->axes.x_unit);
    for (int i = 0; i < gf_lab_columns(lab); i++)
        fprintf(file, ", %s (%s)", lab->columns[i].name, lab->columns[i].unit);
    putc('\n', file);
    for (int k = 0; k < result->rows; k++) {
        const struct gf_lab_row *const row = &result->row[k];
        if (!(lab->axes.form & GF_LAB_BARS) && isnan(row->x))
            continue;
        put_quoted(file, row->label);
        fprintf(file, " %.9g", isnan(row->x) ? (double)k : row->x);
        for (int i = 0; i < gf_lab_columns(lab); i++) {
            if (isfinite(row->value[i]))
                fprintf(file, " %.9g", row->value[i]);
            else
                fputs(" NaN", file);
        }
        putc('\n', file);
    }
}

static void put_axis(FILE *file, const char *axis, const char *name, const char *unit,
                     bool logarithmic)
{
    char text[200];
    snprintf(text, sizeof text, "%s%s%s%s", name, *unit ? " (" : "", unit, *unit ? ")" : "");
    fprintf(file, "set %slabel ", axis);
    put_quoted(file, text);
    putc('\n', file);
    if (logarithmic)
        fprintf(file, "set logscale %s %s\n", axis, *axis == 'x' ? "2" : "10");
    else if (*axis == 'y')
        fputs("set yrange [0:*]\n", file);
}

static void put_script(FILE *file, const char *path, const struct gf_lab *lab,
                       const struct gf_lab_result *result)
{
    const struct gf_lab_axes *const axes = &lab->axes;
    const bool bars = axes->form & GF_LAB_BARS;
    fputs("$data << END_OF_DATA\n", file);
    gf_lab_data(file, lab, result);
    fputs("END_OF_DATA\n", file);
    if (!strcmp(strrchr(path, '.'), ".svg"))
        fputs("set terminal svg size 900,540 noenhanced\n", file);
    else
        fputs("if (strstrt(GPVAL_TERMINALS, \"pngcairo\")) { set terminal pngcairo size 900,540 "
              "noenhanced } else { set terminal png size 900,540 noenhanced }\n",
              file);
    char title[200];
    snprintf(title, sizeof title, "%s: %s", lab->name, result->device);
    fputs("set title ", file);
    put_quoted(file, title);
    fputs("\nset grid\nset key below\nset datafile missing \"NaN\"\n", file);
    put_axis(file, "x", axes->x, axes->x_unit, axes->form & GF_LAB_LOG_X && !bars);
    put_axis(file, "y", axes->y, axes->y_unit, axes->form & GF_LAB_LOG_Y);
    if (bars)
        fputs("set style data histograms\nset style fill solid 0.6 border -1\n"
              "set xtics rotate by -35\nset rmargin 8\n",
              file);
    bool first = true;
    for (int i = 0; i < gf_lab_columns(lab); i++) {
        if (strcmp(lab->columns[i].unit, axes->y_unit))
            continue;
        fprintf(file, "%s$data using %s%d%s title ", first ? "plot " : ", ",
                bars ? "" : "2:", i + 3, bars ? ":xtic(1)" : "");
        put_quoted(file, lab->columns[i].name);
        fputs(bars ? "" : " with linespoints", file);
        first = false;
    }
    putc('\n', file);
}

/* Copies all bytes of a file into an output of the program. */
static enum gf_status copy_file(FILE *from, const char *path, struct gf_error *error)
{
    struct gf_output *output;
    char block[8192];
    size_t got;
    GF_TRY(gf_output_open(path, &output, error));
    enum gf_status status = GF_OK;
    rewind(from);
    while (!status && (got = fread(block, 1, sizeof block, from)) > 0)
        status = gf_output_write(output, block, got, error);
    GF_THEN(status, gf_output_commit(output, error));
    gf_output_close(output);
    return status;
}

/* Runs gnuplot with these files as its standard streams. Returns its exit status; 127 or -1 if it
 * could not be started. */
static int run_gnuplot(FILE *script, FILE *picture, FILE *complaints)
{
    static char name[] = "gnuplot", no_settings[] = "-d", standard_input[] = "-";
    char *const arguments[] = {name, no_settings, standard_input, NULL};
    FILE *const streams[] = {script, picture, complaints};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t plain;
    pid_t child;
    int ended = -1;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_adddup2(&actions, fileno(streams[fd]), fd);
    /* The program ignores SIGPIPE, but gnuplot should not. */
    sigemptyset(&plain);
    sigaddset(&plain, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int failed = posix_spawnp(&child, name, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        return -1;
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
}

/* Writes the data next to the picture's path, if there is no gnuplot. */
static enum gf_status keep_data(const char *path, const struct gf_lab *lab,
                                const struct gf_lab_result *result, FILE *scratch, char *said,
                                size_t said_size, struct gf_error *error)
{
    char name[GF_FILE_NAME_SIZE];
    snprintf(name, sizeof name, "%.*s.dat", (int)(strrchr(path, '.') - path), path);
    gf_lab_data(scratch, lab, result);
    GF_TRY(copy_file(scratch, name, error));
    snprintf(said, said_size, "%s: there is no gnuplot to draw %s; its data is in %s", lab->name,
             path, name);
    return GF_OK;
}

enum gf_status gf_lab_draw(const char *path, const struct gf_lab *lab,
                           const struct gf_lab_result *result, char *said, size_t said_size,
                           struct gf_error *error)
{
    FILE *const script = tmpfile(), *const picture = tmpfile(), *const complaints = tmpfile();
    enum gf_status status = GF_OK;
    if (!script || !picture || !complaints) {
        status = gf_fail(error, GF_ERROR_OUTPUT, "a temporary file: %s", strerror(errno));
        goto done;
    }
    put_script(script, path, lab, result);
    /* gnuplot inherits the descriptor: all bytes must be written, and the position must be at the
     * start. */
    if (fflush(script) || fseek(script, 0, SEEK_SET)) {
        status = gf_fail(error, GF_ERROR_OUTPUT, "a temporary file: %s", strerror(errno));
        goto done;
    }
    const int ended = run_gnuplot(script, picture, complaints);
    if (ended < 0 || ended == 127) {
        status = keep_data(path, lab, result, picture, said, said_size, error);
        goto done;
    }
    if (ended) {
        char line[200] = "";
        rewind(complaints);
        while (fgets(line, sizeof line, complaints) && !line[strspn(line, " \t\n^")])
            continue;
        status = gf_fail(error, GF_ERROR_OUTPUT, "%s: gnuplot failed: %s", path,
                         *line ? line : "it said nothing");
        goto done;
    }
    status = copy_file(picture, path, error);
    if (!status)
        snprintf(said, said_size, "%s: the curve is in %s", lab->name, path);
done:
    if (script)
        fclose(script);
    if (picture)
        fclose(picture);
    if (complaints)
        fclose(complaints);
    return status;
}
