/* Renders samples/harbour.png: a harbour at dusk, by marching rays along distances. It has what
 * filters are tried on: lamps beside deep shadows, fine texture, thin lines, smooth gradients, and
 * the grain of a camera at a high ISO. Usage: harbour OUTPUT.ppm [WIDTH]. The height is two thirds
 * of the width. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene.h"

enum { SIDE = 3 }; /* rays for a pixel, along and down */

static const struct vec sun = {0.247f, 0.03f, 0.968f}, black = {0, 0, 0};
static const float haze_per_m = 0.0018f;

/* The sky. */

static struct vec horizon(struct vec d)
{
    const float toward = fmaxf(dot(unit(vec(d.x, 0, d.z)), unit(vec(sun.x, 0, sun.z))), 0);
    return mix(vec(0.085f, 0.08f, 0.14f), vec(1.15f, 0.43f, 0.11f), powf(toward, 18));
}

static struct vec clouds(struct vec d, struct vec colour)
{
    if (d.y < 0.02f)
        return colour;
    const struct vec p = vec(d.x / (d.y + 0.12f) * 0.9f, 3.1f, d.z / (d.y + 0.12f) * 1.7f);
    const float body = fractal(p, 6),
                cover = smooth(0.42f, 0.62f, body) * smooth(0.02f, 0.12f, d.y);
    const float lit = smooth(0.62f, 0.45f, fractal(add(p, vec(0.15f, 0, 0.3f)), 4));
    const struct vec glow = scale(horizon(d), 1.1f * expf(-4 * d.y));
    return mix(colour,
               add(scale(vec(0.03f, 0.034f, 0.055f), 1 + lit), scale(glow, 0.2f + 1.5f * lit)),
               0.85f * cover);
}

static float star(struct vec d)
{
    const struct vec p = scale(d, 160);
    const int x = (int)floorf(p.x), y = (int)floorf(p.y), z = (int)floorf(p.z);
    const float bright = hash(x, y, z);
    const struct vec at =
        vec((float)x + 0.3f + 0.4f * hash(x, y, 1), (float)y + 0.5f, (float)z + 0.5f);
    return bright > 0.985f
               ? 0.9f * (bright - 0.983f) / 0.017f * smooth(0.45f, 0, length(sub(p, at)))
               : 0;
}

/* Two ranges of hills, the far one paler. */
static struct vec hills(struct vec d, struct vec colour)
{
    const float across = d.x / d.z;
    for (int i = 0; i < 2 && d.z > 0; i++) {
        const float shape =
            fractal(vec(across * (2.2f + 1.7f * (float)i) + 9 * (float)i, 0.5f, 2), 6);
        const float top = (0.20f - 0.07f * (float)i) * (shape - 0.18f) *
                          smooth(0.75f, -0.4f, across - 0.3f * (float)i);
        if (d.y < top)
            colour = mix(colour, scale(vec(0.06f, 0.06f, 0.085f), 1 - 0.5f * (float)i),
                         0.7f + 0.2f * (float)i);
    }
    return colour;
}

static struct vec sky(struct vec d)
{
    const float up = fmaxf(d.y, 0);
    struct vec colour = mix(vec(0.022f, 0.04f, 0.10f), horizon(d), expf(-7 * up));
    const float beside = length(sub(d, sun));
    colour = add(colour, scale(vec(1.1f, 0.5f, 0.15f), 0.9f * expf(-9 * beside)));
    colour = add(colour, scale(vec(0.8f, 0.85f, 1), star(d) * smooth(0.12f, 0.35f, up)));
    return hills(d, clouds(d, colour));
}

/* The light of a beam that turns above the sea, gathered along a ray as far as it goes. */
static struct vec beam(struct vec from, struct vec d, float far)
{
    const struct vec source = scene_lighthouse(), along = unit(vec(0.75f, 0.16f, -0.62f));
    const struct vec w = sub(from, source),
                     normal = vec(d.y * along.z - d.z * along.y, d.z * along.x - d.x * along.z,
                                  d.x * along.y - d.y * along.x);
    const float n2 = dot(normal, normal), b = dot(d, along),
                t = (b * dot(w, along) - dot(w, d)) / (1 - b * b);
    const float s = dot(add(w, scale(d, t)), along);
    if (s < 0 || t < 0 || t > far)
        return black;
    const float apart = fabsf(dot(w, normal)) / sqrtf(n2), width = 0.25f + 0.035f * s;
    return scale(vec(0.22f, 0.19f, 0.13f),
                 expf(-apart * apart / (width * width)) * expf(-0.035f * s));
}

/* Rays. */

/* How far to a surface, or past far. */
static float march(struct vec from, struct vec d, float near, float far, int steps,
                   enum material *material)
{
    float t = near;
    for (int i = 0; i < steps && t < far; i++) {
        const struct hit hit = scene(add(from, scale(d, t)));
        *material = hit.material;
        if (hit.distance < 0.0006f * t)
            return t;
        t += hit.distance * 0.9f;
    }
    return t;
}

static float shadow(struct vec p, struct vec d, float far)
{
    float light = 1;
    for (float t = 0.02f; t < far && light > 0.02f;) {
        const float distance = scene(add(p, scale(d, t))).distance;
        light = fminf(light, 14 * distance / t + 0.02f);
        t += clamp(distance, 0.02f, 0.8f);
    }
    return smooth(0, 1, light);
}

/* What of the sky a corner sees. */
static float openness(struct vec p, struct vec n)
{
    float open = 1, weight = 1.1f;
    for (int i = 1; i <= 4; i++, weight *= 0.55f) {
        const float out = 0.09f * (float)(i * i);
        open -= weight * fmaxf(out - scene(add(p, scale(n, out))).distance, 0) / out * 0.5f;
    }
    return clamp(open, 0, 1);
}

static struct vec normal_at(struct vec p, enum material material, float t)
{
    const float e = fmaxf(0.0012f, 0.0007f * t);
    const struct vec axes[] = {{e, 0, 0}, {0, e, 0}, {0, 0, e}};
    float slope[3];
    for (int i = 0; i < 3; i++) {
        const struct vec a = add(p, axes[i]), b = sub(p, axes[i]);
        slope[i] = scene(a).distance - scene(b).distance - scene_relief(a, material) +
                   scene_relief(b, material);
    }
    return unit(vec(slope[0], slope[1], slope[2]));
}

static struct vec from_lamp(struct lamp lamp, struct vec p, struct vec n, struct vec view,
                            struct vec colour, float gloss, bool shadows)
{
    const struct vec to = sub(lamp.at, p);
    const float distance = length(to), fall = 1 / (0.12f + distance * distance);
    const struct vec l = scale(to, 1 / distance);
    if (distance > lamp.reach || dot(n, l) <= 0)
        return black;
    const float lit = shadows ? shadow(p, l, distance - 0.16f) : 1;
    const float shine = gloss * powf(fmaxf(dot(n, unit(add(l, view))), 0), 60);
    return scale(mul(lamp.colour, add(scale(colour, dot(n, l)), vec(shine, shine, shine))),
                 lit * fall);
}

static struct vec trace(struct vec from, struct vec d, int bounces);

/* Where the rain has not dried. */
static float wetness(struct vec p)
{
    return p.y > 0.77f && p.z < 1.15f
               ? smooth(0.45f, 0.52f, fractal(vec(p.x * 0.8f + 2.6f, 1, p.z * 1.5f), 4))
               : 0;
}

static struct vec shade(struct vec p, struct vec d, float t, enum material material, int bounces)
{
    const struct vec glow = scene_glow(p, material), view = scale(d, -1);
    struct vec n = normal_at(p, material, t);
    if (material == LAMP || material == FLAME) /* dimmer towards its outline */
        return scale(glow, 0.15f + 0.85f * powf(fmaxf(dot(n, view), 0), 2));
    const float wet = material == STONE ? wetness(p) : 0;
    struct vec colour = scale(scene_colour(p, material), 1 - 0.45f * wet);
    n = unit(mix(n, vec(0, 1, 0), 0.96f * wet));
    const float gloss = material == IRON ? 0.5f : material == STONE ? 0.12f + wet : 0.06f;
    const float open = openness(p, n);
    const struct vec above =
        mix(vec(0.04f, 0.038f, 0.045f), vec(0.055f, 0.072f, 0.13f), 0.5f + 0.5f * n.y);
    struct vec light = scale(mul(colour, above), open);
    const float toward = fmaxf(dot(n, sun), 0);
    light = add(light, scale(mul(colour, vec(0.85f, 0.36f, 0.12f)), toward * open * 0.8f));
    light = add(light, scale(from_lamp(scene_lantern(), p, n, view, colour, gloss, true), 4.5f));
    if (p.z > 15)
        light = add(light, scale(from_lamp(scene_street_lamp(p), p, n, view, colour, 0, false), 6));
    if (bounces > 0 && (wet > 0.02f || material == HULL)) {
        const float mirror = (material == HULL ? 0.05f : wet) *
                             (0.03f + 0.97f * powf(1 - fmaxf(dot(n, view), 0), 5));
        light =
            add(light,
                scale(trace(add(p, scale(n, 0.01f)), sub(d, scale(n, 2 * dot(d, n))), bounces - 1),
                      mirror));
    }
    return add(light, glow);
}

static float waves(float x, float z)
{
    return 0.10f * fractal(vec(x * 0.55f, 0.3f, z * 1.1f), 3) +
           0.035f * fractal(vec(x * 2.3f, 4.4f, z * 4.5f), 3);
}

static struct vec water(struct vec p, struct vec d, float t, int bounces)
{
    const float e = 0.01f + 0.0012f * t, calm = 1 / (1 + 0.012f * t);
    const struct vec n = unit(vec((waves(p.x - e, p.z) - waves(p.x + e, p.z)) / (2 * e) * calm, 1,
                                  (waves(p.x, p.z - e) - waves(p.x, p.z + e)) / (2 * e) * calm));
    struct vec r = sub(d, scale(n, 2 * dot(d, n)));
    r.y = fabsf(r.y) + 0.002f;
    const float mirror = 0.02f + 0.98f * powf(1 - fmaxf(-dot(d, n), 0), 5);
    const struct vec deep = vec(0.008f, 0.017f, 0.022f);
    return bounces > 0 ? mix(deep, trace(p, unit(r), bounces - 1), mirror) : deep;
}

static struct vec trace(struct vec from, struct vec d, int bounces)
{
    const float to_water = d.y < -1e-4f ? -from.y / d.y : 1e9f, far = fminf(to_water, 130);
    enum material material = STONE;
    const float t = march(from, d, 0.02f, far, bounces > 0 ? 260 : 120, &material);
    const struct vec p = add(from, scale(d, t));
    struct vec colour;
    if (t < far)
        colour = shade(p, d, t, material, bounces);
    else if (to_water < 400)
        colour = water(add(from, scale(d, to_water)), d, to_water, bounces);
    else
        return add(sky(d), beam(from, d, 1e9f));
    const float seen = fminf(t, to_water);
    return add(mix(horizon(d), colour, expf(-haze_per_m * seen)), beam(from, d, seen));
}

/* The camera. */

static struct vec pixel(int x, int y, int width, int height)
{
    const struct vec eye = vec(0, 2.0f, -5);
    struct vec sum = black;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float dx = ((float)(i % SIDE) + hash(x, y, 2 * i)) / SIDE,
                    dy = ((float)(i / SIDE) + hash(x, y, 2 * i + 1)) / SIDE;
        const float u = ((float)x + dx) / (float)width - 0.5f,
                    v = 0.5f - ((float)y + dy) / (float)height;
        const struct vec c = trace(eye, unit(vec(1.2f * u, 0.8f * v - 0.05f, 1)), 2);
        const float bound = 12; /* one ray that meets a lamp must not outshine the pixel */
        sum = add(sum, vec(fminf(c.x, bound), fminf(c.y, bound), fminf(c.z, bound)));
    }
    return scale(sum, 1.f / (SIDE * SIDE));
}

/* One row or column of a running mean, in place. */
static void blur_line(struct vec *line, int count, int stride, int radius, struct vec *copy)
{
    struct vec sum = black;
    for (int i = 0; i < count; i++)
        copy[i] = line[(size_t)i * stride];
    for (int i = -radius; i < count; i++) {
        if (i + radius < count)
            sum = add(sum, copy[i + radius]);
        if (i - radius - 1 >= 0)
            sum = sub(sum, copy[i - radius - 1]);
        if (i >= 0)
            line[(size_t)i * stride] = scale(sum, 1.f / (float)(2 * radius + 1));
    }
}

/* The lens scatters a little of what is bright. */
static void bloom(struct vec *picture, int width, int height)
{
    const size_t pixels = (size_t)width * (size_t)height;
    struct vec *const halo = malloc(pixels * sizeof *halo), *const copy =
                                                                malloc((size_t)(width + height) *
                                                                       sizeof *copy);
    if (!halo || !copy)
        exit(1);
    for (int size = 0; size < 2; size++) {
        const int radius = width / (size ? 22 : 110) + 1;
        for (size_t i = 0; i < pixels; i++) {
            const struct vec c = picture[i];
            halo[i] = scale(c, smooth(0.5f, 3, fmaxf(c.x, fmaxf(c.y, c.z))));
        }
        for (int pass = 0; pass < 3; pass++) {
            for (int y = 0; y < height; y++)
                blur_line(halo + (size_t)y * width, width, 1, radius, copy);
            for (int x = 0; x < width; x++)
                blur_line(halo + x, height, width, radius, copy);
        }
        for (size_t i = 0; i < pixels; i++)
            picture[i] = add(picture[i], scale(halo[i], size ? 0.05f : 0.10f));
    }
    free(copy);
    free(halo);
}

/* Nearly normal: the sum of four even ones. */
static float grain(int x, int y, int channel)
{
    float sum = -2;
    for (int i = 0; i < 4; i++)
        sum += hash(x, y, 1000 + 10 * channel + i);
    return sum * 1.73f;
}

/* What the camera makes of light. Photons are counted, so that the noise is the root of the light;
 * the electronics add theirs. A soft shoulder bounds the brightest channel. The others keep their
 * ratio to it, and only the brightest lamps turn a little paler. */
static void develop(struct vec light, int x, int y, unsigned char *sample)
{
    const float exposure = 0.6f, photons = 900, electronics = 0.0022f, white = 9;
    const float channels[] = {light.x, light.y, light.z};
    float counted[3], most = 1e-6f;
    for (int i = 0; i < 3; i++) {
        const float s = exposure * channels[i],
                    noise_of = sqrtf(s / photons + electronics * electronics);
        counted[i] = fmaxf(s + noise_of * (0.8f * grain(x, y, i) + 0.5f * grain(x, y, 3)), 0);
        most = fmaxf(most, counted[i]);
    }
    const float shoulder = most * (1 + most / (white * white)) / (1 + most),
                pale = 0.35f * smooth(0.6f, 1, shoulder);
    for (int i = 0; i < 3; i++) {
        const float tone = shoulder * lerp(counted[i] / most, 1, pale);
        sample[i] = (unsigned char)(255 * powf(clamp(tone, 0, 1), 1 / 2.2f) + 0.5f);
    }
}

int main(int count, char **arguments)
{
    const int width = count > 2 ? atoi(arguments[2]) : 900, height = width * 2 / 3;
    FILE *const file = count > 1 && width > 0 ? fopen(arguments[1], "wb") : NULL;
    struct vec *const picture = malloc((size_t)width * (size_t)height * sizeof *picture);
    if (!file || !picture) {
        fputs("usage: harbour OUTPUT.ppm [WIDTH]\n", stderr);
        return 2;
    }
#pragma omp parallel for schedule(dynamic)
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            picture[(size_t)y * width + x] = pixel(x, y, width, height);
    }
    bloom(picture, width, height);
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const float u = (float)x / (float)width - 0.5f, v = (float)y / (float)height - 0.5f;
            const struct vec c = scale(picture[(size_t)y * width + x], 1 - 0.75f * (u * u + v * v));
            unsigned char samples[3];
            develop(c, x, y, samples);
            fwrite(samples, 1, sizeof samples, file);
        }
    }
    free(picture);
    return fclose(file) ? 1 : 0;
}
