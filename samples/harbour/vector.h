/* Vectors and noise for the renderer of samples/harbour.png. The noise is a hash of the position,
 * so that every run gives the same picture. */
#pragma once

#include <math.h>
#include <stdint.h>

struct vec {
    float x, y, z;
};

static inline struct vec vec(float x, float y, float z)
{
    return (struct vec){x, y, z};
}

static inline struct vec add(struct vec a, struct vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct vec sub(struct vec a, struct vec b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct vec mul(struct vec a, struct vec b)
{
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline struct vec scale(struct vec a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

static inline float dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline float length(struct vec a)
{
    return sqrtf(dot(a, a));
}

static inline struct vec unit(struct vec a)
{
    return scale(a, 1 / length(a));
}

static inline float clamp(float x, float low, float high)
{
    return fminf(fmaxf(x, low), high);
}

static inline float lerp(float a, float b, float t)
{
    return a + (b - a) * t;
}

static inline struct vec mix(struct vec a, struct vec b, float t)
{
    return add(a, scale(sub(b, a), t));
}

/* From 0 at low to 1 at high, level at both. */
static inline float smooth(float low, float high, float x)
{
    const float t = clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

/* About the vertical axis, in radians. */
static inline struct vec turn(struct vec p, float angle)
{
    const float c = cosf(angle), s = sinf(angle);
    return vec(c * p.x - s * p.z, p.y, s * p.x + c * p.z);
}

/* 0 to 1, evenly distributed. */
static inline float hash(int x, int y, int z)
{
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ (uint32_t)z * 0xcb1ab31fu;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (float)((h ^ h >> 15) >> 8) / 16777216.f;
}

/* 0 to 1, smooth; its features are one unit wide. */
static inline float noise(struct vec p)
{
    const float fx = floorf(p.x), fy = floorf(p.y), fz = floorf(p.z);
    const int x = (int)fx, y = (int)fy, z = (int)fz;
    const float u = smooth(0, 1, p.x - fx), v = smooth(0, 1, p.y - fy), w = smooth(0, 1, p.z - fz);
    float plane[2];
    for (int k = 0; k < 2; k++)
        plane[k] = lerp(lerp(hash(x, y, z + k), hash(x + 1, y, z + k), u),
                        lerp(hash(x, y + 1, z + k), hash(x + 1, y + 1, z + k), u), v);
    return lerp(plane[0], plane[1], w);
}

/* Octaves of noise, each half as large and half as strong; 0 to almost 1. */
static inline float fractal(struct vec p, int octaves)
{
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++, weight /= 2) {
        sum += weight * noise(p);
        p = add(scale(p, 2.03f), vec(7.1f, 3.7f, 5.3f));
    }
    return sum;
}
