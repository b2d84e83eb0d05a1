/* Filters a picture, here with a JPEG's quality chosen: example IN OUT CHAIN
 * cc example.c $(pkg-config --cflags --libs gpufilter) */
#include <stdio.h>

#include <gpufilter/gpufilter.h>

int main(int argc, char **argv)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error;
    if (argc != 4)
        return 2;
    options.quality = 85;
    enum gf_status status = gf_pipeline_open(argv[3], &options, &pipeline, &error);
    if (!status)
        status = gf_pipeline_run_file(pipeline, argv[1], argv[2], &error);
    if (status)
        fprintf(stderr, "%s\n", error.text);
    gf_pipeline_close(pipeline);
    return status ? 1 : 0;
}
