/* Command lines, among them the arguments of --profile: a line of GPUFILTER_OPTS, and behind a zero
 * byte the arguments, each ended by a zero byte. */
#include "fuzz.h"

#include "cli/command/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ARGUMENTS_MAX = 60 };
    static struct gf_command command;
    struct fuzz_bytes bytes = {data, size};
    struct gf_error error = {0};
    char *argv[ARGUMENTS_MAX + 2] = {"gpufilter"}, **words = NULL;
    char *const environment = fuzz_string(&bytes);
    int argc = 1, count = 0;
    while (bytes.size && argc <= ARGUMENTS_MAX)
        argv[argc++] = fuzz_string(&bytes);
    if (fuzz_ok(gf_shell_words_split(environment, &words, &count, &error), &error)) {
        FUZZ_CHECK(!words[count], "the last of %d words", count);
        (void)fuzz_ok(gf_command_parse_after(count, words, argc, argv, &command, &error), &error);
    }
    free(words);
    free(environment);
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    return 0;
}
