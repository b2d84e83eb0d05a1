/* Draws a lab's plot by gnuplot. The script goes to gnuplot's standard input, and the picture comes
 * from its standard output, so that neither gnuplot nor a shell sees the name of a file. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/io/output.h"
#include "study/labs/lab.h"
#include "study/report/study_report.h"

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
        if (!lab->axes.bars && isnan(row->x))
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
    put_axis(file, "x", axes->x, axes->x_unit, axes->log_x && !axes->bars);
    put_axis(file, "y", axes->y, axes->y_unit, axes->log_y);
    if (axes->bars)
        fputs("set style data histograms\nset style fill solid 0.6 border -1\n"
              "set xtics rotate by -35\nset rmargin 8\n",
              file);
    bool first = true;
    for (int i = 0; i < gf_lab_columns(lab); i++) {
        if (strcmp(lab->columns[i].unit, axes->y_unit))
            continue;
        fprintf(file, "%s$data using %s%d%s title ", first ? "plot " : ", ",
                axes->bars ? "" : "2:", i + 3, axes->bars ? ":xtic(1)" : "");
        put_quoted(file, lab->columns[i].name);
        fputs(axes->bars ? "" : " with linespoints", file);
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
    enum gf_status status = gf_output_open(path, &output, error);
    if (status)
        return status;
    rewind(from);
    while (!status && (got = fread(block, 1, sizeof block, from)) > 0)
        status = gf_output_write(output, block, got, error);
    if (!status)
        status = gf_output_commit(output, error);
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
