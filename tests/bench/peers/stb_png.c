/* stb_image_write's part of `make bench-png`: a binary PPM as a PNG in memory, once; prints
 * NAME|MILLISECONDS|BYTES. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

int main(int argc, char **argv)
{
    int width, height, bytes;
    FILE *const file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fscanf(file, "P6 %d %d 255", &width, &height) != 2 || getc(file) == EOF)
        return 1;
    const size_t size = (size_t)width * (size_t)height * 3;
    unsigned char *const pixels = malloc(size);
    struct timespec begin, end;
    if (!pixels || fread(pixels, 1, size, file) != size)
        return 1;
    stbi_write_png_compression_level = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    unsigned char *const png = stbi_write_png_to_mem(pixels, width * 3, width, height, 3, &bytes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("stb_image_write: encode, level 1|%.1f|%d\n",
           (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6,
           bytes);
    free(png);
    free(pixels);
    return fclose(file);
}
