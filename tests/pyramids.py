"""Pyramids and tiles beside what others make and read of them. Prints what is wrong, a line each.

    pyramids.py PROGRAM dzsave    folders of tiles against libvips' dzsave
    pyramids.py PROGRAM written   the levels of TIFFs, which tifffile, libvips and OpenSlide read
    pyramids.py PROGRAM iiif      info.json and the whole picture by iiif-validate.py
    pyramids.py PROGRAM read      TIFFs of tiles by tifffile and libvips: whole, in part, and their levels
"""
import itertools
import os
import re
import shutil
import subprocess
import sys

import numpy

program = sys.argv[1]


def picture(kind, width, height):
    """Ramps, edges and grain; the alpha of rgba is at least a half, since libvips cuts fractions off."""
    grain = numpy.random.default_rng(width * 1000 + height).integers(0, 55, (height, width))
    y, x = numpy.mgrid[0:height, 0:width]
    rgb = numpy.stack([x * 255 // max(1, width - 1), (x * 7 + y * 13) % 256, (x // 8 + y // 8) % 2 * 200 + grain], -1).astype(numpy.uint8)
    if kind == 'gray':
        return rgb[..., 2:]
    if kind == 'rgba':
        return numpy.concatenate([rgb, (128 + (x + y) % 128)[..., None].astype(numpy.uint8)], -1)
    return rgb if kind == 'rgb' else (rgb.astype(numpy.uint16) * 257) ^ x[..., None].astype(numpy.uint16)


def write(pixels, path):
    """Writes a PAM."""
    channels = pixels.shape[2]
    with open(path, 'wb') as file:
        file.write(b'P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n' % (
            pixels.shape[1], pixels.shape[0], channels, numpy.iinfo(pixels.dtype).max,
            {1: b'GRAYSCALE', 3: b'RGB', 4: b'RGB_ALPHA'}[channels]))
        file.write(pixels.astype('>u2' if pixels.dtype == numpy.uint16 else 'u1').tobytes())


def run(*arguments):
    done = subprocess.run([program, '-q', *arguments], capture_output=True, text=True)
    if done.returncode:
        print(' '.join(arguments) + ':', done.stderr.strip()[:200] or done.returncode)
    return not done.returncode


def own(path, *chain):
    """What the program reads of a file."""
    if not run('-i', path, '-o', 'own.pam', *chain):
        return numpy.zeros((1, 1, 1), numpy.uint8)
    with open('own.pam', 'rb') as file:
        head, data = file.read().split(b'ENDHDR\n', 1)
    word = dict(line.split(None, 1) for line in head.decode().splitlines()[1:])
    return numpy.frombuffer(data, 'u1' if int(word['MAXVAL']) < 256 else '>u2').reshape(int(word['HEIGHT']), int(word['WIDTH']), int(word['DEPTH']))


def check(what, ours, wanted, most=0):
    wanted = wanted if wanted.ndim == 3 else wanted[..., None]
    if ours.shape != wanted.shape or ours.dtype.itemsize != wanted.dtype.itemsize:
        print(f'{what}: {ours.shape} of {ours.dtype}, not {wanted.shape} of {wanted.dtype}')
    elif numpy.abs(ours.astype(int) - wanted).max() > most:
        print(f'{what}: {numpy.abs(ours.astype(int) - wanted).max()} apart')


def tree(folder):
    return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names if name != 'vips-properties.xml'}


def tiles(name):
    return numpy.atleast_3d(pyvips.Image.new_from_file(name).numpy())


def dzsave():
    kinds = [('rgb', size) for size in ((301, 155), (1, 1), (1, 77), (64, 64), (513, 3))]
    kinds += [('gray', (301, 155)), ('rgba', (301, 155)), ('rgb16', (301, 155)), ('rgba', (256, 128))]
    layouts = [('dz', overlap) for overlap in (0, 1, 2)] + [(name, 0) for name in ('zoomify', 'google', 'iiif', 'iiif3')]
    for (kind, size), (layout, overlap), form in itertools.product(kinds, layouts, ('png', 'jpeg')):
        if (form == 'jpeg' and (kind not in ('rgb', 'gray') or size != (301, 155))) or (layout == 'dz' and overlap != 1 and size != (301, 155)):
            continue
        pixels = picture(kind, *size)
        write(pixels, 'in.pam')
        shutil.rmtree('own', ignore_errors=True)
        shutil.rmtree('vips', ignore_errors=True)
        os.mkdir('own'), os.mkdir('vips')
        what = f'{layout}, overlap {overlap}, {kind} {size}, {form}'
        more = f':overlap={overlap}' if layout == 'dz' else ':id=https://example.org' if 'iiif' in layout else ''
        if not run('-i', 'in.pam', '-o', 'own/a' + ('.dzi' if layout == 'dz' else ''), '--pyramid=' + layout + more, '--tile-size=64',
                   '--format=' + form, '--quality=80'):
            continue
        suffix = '.png' if form == 'png' else '.jpeg[Q=80]' if layout == 'dz' else '.jpg[Q=80]'
        image = pyvips.Image.new_from_array(pixels, interpretation={'gray': 'b-w', 'rgb16': 'rgb16'}.get(kind, 'srgb'))
        image.dzsave('vips/a', layout=layout, overlap=overlap, tile_size=64, suffix=suffix, id='https://example.org')
        ours, theirs = tree('own'), tree('vips')
        # IIIF has more names than one for a tile: libvips 8.17 and later use another, and viewers ask for more.
        lacking = {name for name in theirs - ours if re.sub('/[0-9]+,[0-9]*/0/', '/full/0/' if layout == 'iiif' else '/max/0/', name) not in ours}
        if lacking or ('iiif' not in layout and ours != theirs):
            print(f'{what}: names: {sorted(lacking or ours ^ theirs)[:4]}')
        # Google's tiles by libvips: their background is 255 of 65535, levels of odd sizes have it in their last pixels, and blank.png is gray.
        # Of tiles with one name, libvips keeps any.
        if layout == 'google' and (kind == 'rgb16' or any(side % 64 for side in size)):
            continue
        for name in sorted(ours & theirs):
            if name.endswith(('.png', '.jpg', '.jpeg')) and name not in ('a/blank.png', 'a/512,0,1,3/1,/0/default.png'):
                check(f'{what}: {name}', tiles('own/' + name), tiles('vips/' + name), 12 if kind == 'rgba' else 0)


def halves(pixels, count):
    """A picture and its levels by the means of 2 x 2 pixels."""
    levels = [pixels]
    while len(levels) < count:
        last = numpy.pad(levels[-1].astype(int), [(0, levels[-1].shape[0] % 2), (0, levels[-1].shape[1] % 2), (0, 0)], mode='edge')
        levels.append(((last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2] + 2) // 4).astype(pixels.dtype))
    return levels


def written():
    import openslide
    import tifffile
    for layout, (kind, packed) in itertools.product(('', '=subifds', '=cog'), (
            ('rgb', 'deflate'), ('gray', 'lzw'), ('rgb16', 'deflate'), ('rgb', 'jpeg'), ('gray', 'jpeg'))):
        pixels = picture(kind, 301, 155)
        write(pixels, 'in.pam')
        if not run('-i', 'in.pam', '-o', 'a.tif', '--pyramid' + layout, '--tile-size=64', '--tiff-compression=' + packed):
            continue
        wanted, what = halves(pixels, 4), f'--pyramid{layout}, {kind}, {packed}'
        with tifffile.TiffFile('a.tif') as file:
            levels = [numpy.atleast_3d(level.asarray()) for level in file.series[0].levels]
        if len(levels) != 4:
            print(f'{what}: tifffile reads {len(levels)} levels')
        for i, (level, each) in enumerate(zip(levels, wanted)):
            if packed != 'jpeg':
                check(f'{what}: level {i} by tifffile', level, each)
            elif level.shape != each.shape or numpy.abs(level.mean((0, 1)) - each.mean((0, 1))).max() > 5:
                print(f'{what}: level {i} by tifffile: {level.shape}, means {level.mean((0, 1))}, not {each.mean((0, 1))}')
            below = {'subifd': i - 1} if layout == '=subifds' else {'page': i}
            check(f'{what}: level {i} by libvips', numpy.atleast_3d(pyvips.Image.new_from_file('a.tif', **below).numpy()), level, 2)
            if layout != '=subifds':
                check(f'{what}: level {i} by {program}', own(f'a.tif[{i}]'), level, 2)
        if kind == 'rgb':
            slide = openslide.OpenSlide('a.tif')
            seen = [level.shape[1::-1] for level in (levels if layout != '=subifds' else levels[:1])]
            if list(slide.level_dimensions) != seen:
                print(f'{what}: OpenSlide reads {slide.level_dimensions}')
            for i, size in enumerate(slide.level_dimensions):
                check(f'{what}: level {i} by OpenSlide', numpy.asarray(slide.read_region((0, 0), i, size))[..., :3], levels[i], 2)


def read():
    import tifffile
    rgb, gray, deep = (picture(kind, 301, 155) for kind in ('rgb', 'gray', 'rgb16'))
    for name, pixels, options in (
            ('420', rgb, dict(photometric='ycbcr', compression='jpeg', subsampling=(2, 2))),
            ('422', rgb, dict(photometric='ycbcr', compression='jpeg', subsampling=(2, 1))),
            ('rgb', rgb, dict(photometric='rgb', compression='jpeg')),
            ('jpeg-gray', gray, dict(photometric='minisblack', compression='jpeg')),
            ('planes', rgb, dict(photometric='rgb', planarconfig='separate', compression='deflate', predictor=True)),
            ('big', deep, dict(photometric='rgb', compression='zstd', predictor=True, bigtiff=True, byteorder='>')),
            *((f'{packed}-{predictor}', deep, dict(photometric='rgb', compression=packed, predictor=predictor))
              for packed, predictor in itertools.product(('deflate', 'lzw', 'zstd'), (False, True)))):
        put = numpy.moveaxis(pixels, -1, 0) if name == 'planes' else pixels if pixels is not gray else pixels[..., 0]
        tifffile.imwrite(name + '.tif', put, tile=(64, 48), **options)
        wanted = numpy.atleast_3d(tifffile.imread(name + '.tif'))
        wanted = numpy.moveaxis(wanted, 0, -1) if name == 'planes' else wanted
        most = 2 if 'compression' in options and options['compression'] == 'jpeg' else 0
        check(name, own(name + '.tif'), wanted, most)
        check(name + ' in part', own(name + '.tif', 'crop=70:60:100:90'), wanted[90:150, 100:170], most)
    # Tables of Huffman codes apart from the tiles, levels as pages and as SubIFDs.
    rgb = picture('rgb', 304, 160)
    for form, options in itertools.product(('jpeg', 'deflate', 'lzw'), (dict(), dict(subifd=True), dict(bigtiff=True))):
        for quality in (75, 95) if form == 'jpeg' else (0,):
            image = pyvips.Image.new_from_array(rgb)
            image.tiffsave('vips.tif', tile=True, tile_width=64, tile_height=64, pyramid=True, compression=form, **options,
                           **dict(Q=quality) if quality else dict(predictor='horizontal'))
            levels = [pyvips.Image.new_from_file('vips.tif', **({'subifd': i - 1} if 'subifd' in options else {'page': i})).numpy() for i in range(3)]
            what = f'{form} {quality or ""} {"".join(options)}'
            for i, level in enumerate(levels if 'subifd' not in options else levels[:1]):
                check(f'{what}: level {i}', own(f'vips.tif[{i}]'), level, 2)
            check(what + ' in part', own('vips.tif', 'crop=70:60:100:90'), levels[0][90:150, 100:170], 2)
            write(levels[2], 'level.pam')
            height, width = (side // 2 for side in levels[2].shape[:2])
            check(what + ': a thumbnail', own('vips.tif', f'thumbnail={width}:{height}'), own('level.pam', f'resize={width}:{height}'), 2)


def iiif():
    import functools
    import http.server
    import threading

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=os.getcwd()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = '127.0.0.1:%d' % server.server_address[1]
    write(picture('rgb', 301, 155), 'in.pam')
    for version, layout, side in (('2.0', 'iiif', 512), ('3.0', 'iiif3', 512), ('3.0', 'iiif3', 64)):
        # Of several levels the validator asks 2.0 for full/full, which the limit in info.json leaves out.
        run('-i', 'in.pam', '-o', layout, f'--pyramid={layout}:id=http://{at}', f'--tile-size={side}')
        # Its squares of colours are a picture of its own.
        said = subprocess.run(['iiif-validate.py', '-s', at, '-i', layout, '--version', version, '--level', '0', '-v', '--test', 'info_json',
                               '--test', 'id_basic', '--test', 'format_jpg'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if 'Done (3 tests, 0 failures)' not in said:
            print(layout + ':', said[-2000:])


if sys.argv[2] == 'iiif':
    iiif()
else:
    import pyvips
    pyvips.cache_set_max(0)
    {'dzsave': dzsave, 'written': written, 'read': read}[sys.argv[2]]()
