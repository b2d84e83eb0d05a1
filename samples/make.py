#!/usr/bin/env python3
"""Makes samples/harbour.ppm, a hazy synthetic landscape (numpy only). Usage: make.py OUTPUT.ppm"""
import sys

import numpy as np

WIDTH, HEIGHT, SEED = 640, 420, 7


def ridge(rng, roughness, base, height):
    """A mountain line: octaves of smooth noise, in rows from the top."""
    x = np.arange(WIDTH)
    line = np.zeros(WIDTH)
    for octave in range(1, 8):
        knots = rng.standard_normal(2 ** octave + 3)
        line += np.interp(x * 2 ** octave / WIDTH, np.arange(knots.size), knots) * roughness ** octave
    return base - height * (line - line.min()) / np.ptp(line)


def noise(rng, cell):
    """Smooth two-dimensional noise in 0..1."""
    rows, columns = HEIGHT // cell + 2, WIDTH // cell + 2
    grid = rng.random((rows, columns))
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] / cell
    i, j, fy, fx = y.astype(int), x.astype(int), y % 1, x % 1
    fy, fx = fy * fy * (3 - 2 * fy), fx * fx * (3 - 2 * fx)
    top = grid[i, j] * (1 - fx) + grid[i, j + 1] * fx
    bottom = grid[i + 1, j] * (1 - fx) + grid[i + 1, j + 1] * fx
    return top * (1 - fy) + bottom * fy


def main():
    rng = np.random.default_rng(SEED)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    haze = np.array([0.70, 0.70, 0.70])
    sky = np.stack([0.66 + 0.10 * y / HEIGHT, 0.68 + 0.07 * y / HEIGHT, 0.72 + 0.02 * y / HEIGHT], -1)
    clouds = sum(noise(rng, c) * c for c in (12, 25, 50, 100)) / 187
    picture = sky + 0.16 * np.clip(clouds - 0.48, 0, 1)[..., None]
    sun = np.exp(-((x - 455) ** 2 + (y - 120) ** 2) / (2 * 26.0 ** 2))
    picture += sun[..., None] * np.array([0.18, 0.13, 0.05])
    texture = (noise(rng, 3) + noise(rng, 7)) / 2
    colours = [(0.46, 0.47, 0.50), (0.40, 0.42, 0.43), (0.33, 0.37, 0.33), (0.26, 0.30, 0.25)]
    for k, colour in enumerate(colours):
        line = ridge(rng, 0.62, 210 + 45 * k, 120 - 22 * k)
        depth = 0.55 - 0.13 * k
        land = np.array(colour) * (0.86 + 0.28 * texture[..., None]) * (1 - depth) + haze * depth
        picture = np.where((y > line)[..., None], land, picture)
    shore = 352 + 5 * noise(rng, 60)
    water = np.array([0.42, 0.48, 0.54]) + 0.05 * np.sin(y * 0.9 + 9 * noise(rng, 40))[..., None]
    glitter = np.exp(-((x - 455) / 60) ** 2) * (noise(rng, 4) > 0.62) * 0.12
    picture = np.where((y > shore)[..., None], water + glitter[..., None], picture)
    for left, top, width, height in ((90, 330, 34, 24), (132, 322, 22, 32), (160, 335, 40, 19), (540, 326, 26, 28)):
        house = (x >= left) & (x < left + width) & (y >= top) & (y < top + height)
        roof = (y < top) & (y > top - 12 + abs(x - left - width / 2) * 24 / width)
        window = house & ((x - left) % 9 > 4) & ((y - top) % 10 > 5)
        picture[house] = (0.66, 0.60, 0.54)
        picture[roof] = (0.54, 0.38, 0.34)
        picture[window] = (0.36, 0.37, 0.42)
    picture = 0.17 + 0.62 * picture + rng.normal(0, 0.003, picture.shape)
    samples = np.clip(np.rint(picture * 255), 0, 255).astype(np.uint8)
    with open(sys.argv[1], "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + samples.tobytes())


main()
