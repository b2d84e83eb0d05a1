/* The file system's floor for a batch: reads files and writes as many bytes as a result has, by as
 * many threads, and does nothing else. Arguments: the number of threads, a folder for the results,
 * the bytes of a result, and a list of files. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MOST = 1 << 20, NAME_MOST = 4096, READ_MOST = 64 << 20 };

static char *name[FILES_MOST];
static int files;
static atomic_int next_file, failed;
static const char *folder;
static size_t result_bytes;

static int copy(int number, char *data)
{
    char target[NAME_MOST];
    snprintf(target, sizeof target, "%s/%d", folder, number);
    const int in = open(name[number], O_RDONLY);
    const int out = open(target, O_WRONLY | O_CREAT | O_EXCL, 0666);
    struct stat about;
    const int good = in >= 0 && out >= 0 && !fstat(in, &about) && about.st_size <= READ_MOST &&
                     read(in, data, (size_t)about.st_size) == about.st_size &&
                     write(out, data, result_bytes) == (ssize_t)result_bytes;
    if (in >= 0)
        close(in);
    return (out < 0 || !close(out)) && good;
}

static void *thread_main(void *argument)
{
    char *const data = malloc(READ_MOST);
    (void)argument;
    for (int i; data && (i = next_file++) < files;)
        failed += !copy(i, data);
    failed += !data;
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS_MOST = 256 };
    pthread_t thread[THREADS_MOST];
    char line[NAME_MOST];
    FILE *const list = argc == 5 ? fopen(argv[4], "r") : NULL;
    const int threads = argc == 5 ? atoi(argv[1]) : 0;
    if (!list || threads < 1 || threads > THREADS_MOST)
        return 2;
    folder = argv[2];
    result_bytes = (size_t)atoll(argv[3]);
    while (files < FILES_MOST && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        name[files++] = strdup(line);
    }
    fclose(list);
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, thread_main, NULL))
            return 1;
    }
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return failed ? 1 : 0;
}
