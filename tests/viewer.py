"""Looks at pyramids in OpenSeadragon, in headless Chromium: it shows what the picture is.

    viewer.py OPENSEADRAGON.js PROGRAM PICTURE.png [SHOTS]

Makes pyramids of each layout, serves them on this machine alone, and takes pictures of the whole, of a small copy and of a part, which
stay in the folder SHOTS. Prints what is wrong in a line each.
"""
import base64
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from page import Browser, LIMIT_S

TILE = 64
PAGE = """<!DOCTYPE html><style>html, body, #at { margin: 0; width: 100%; height: 100%; background: #f0f }</style>
<div id="at"></div><script src="openseadragon.js"></script>"""


def sources(width, height, address):
    """The options of each layout, and what a viewer is told of it."""
    across = TILE
    while across < max(width, height):
        across *= 2
    return {
        'dz': ('a.dzi', '', '"a.dzi"'),
        'dz of PNG': ('p.dzi', '--format=png --pyramid=dz:overlap=0', '"p.dzi"'),
        'dz of one overlap more': ('o.dzi', '--pyramid=dz:overlap=2', '"o.dzi"'),
        'zoomify': ('z', '--pyramid=zoomify', '{type: "zoomifytileservice", width: %d, height: %d, tilesUrl: "z/", tileSize: %d}' %
                    (width, height, TILE)),
        'google': ('g', '--pyramid=google', '{width: %d, height: %d, tileSize: %d, minLevel: %d, getTileUrl: (level, x, y) => '
                   '`g/${level - %d}/${y}/${x}.jpg`}' % (across, across, TILE, TILE.bit_length() - 1, TILE.bit_length() - 1)),
        'iiif': ('i', '--pyramid=iiif:id=' + address, '"i/info.json"'),
        'iiif3': ('i3', '--pyramid=iiif3:id=' + address, '"i3/info.json"')}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def psnr(program, picture, chain, shot):
    subprocess.run([program, '-q', '-i', picture, '-o', 'wanted.png', chain], check=True)
    said = subprocess.run([program, '--compare=wanted.png', '-i', shot], capture_output=True, text=True).stdout
    value = [line.split()[1] for line in said.splitlines() if line.startswith('psnr')]
    return float(value[0]) if value else 0


def begin(browser, address, source):
    browser.events = []
    browser.call('Page.navigate', url=address + '/page.html')
    browser.wait('Page.loadEventFired')
    browser.value('window.viewer = OpenSeadragon({id: "at", tileSources: %s, showNavigationControl: false, animationTime: 0, blendTime: 0, '
                  'drawer: "canvas", visibilityRatio: 0, minZoomImageRatio: 0, maxZoomPixelRatio: 99}), 0' % source)


def show(browser, width, height, bounds, shot):
    """Takes a picture of the part that then fills the viewer."""
    browser.size(width, height)
    end = time.monotonic() + LIMIT_S
    loaded = 0
    while loaded < 3:
        place = 'viewer.world.getItemCount() && viewer.container.clientWidth == %d && (viewer.forceResize(), viewer.viewport.fitBounds(' \
                'new OpenSeadragon.Rect(%s), true), viewer.forceRedraw(), true)' % (width, ', '.join(map(str, bounds)))
        full = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(viewer.world.getItemAt(0).getFullyLoaded()))))'
        loaded = loaded + 1 if browser.value(place) and browser.value(full) else 0
        if time.monotonic() > end:
            return 'the viewer does not show it'
    picture = browser.call('Page.captureScreenshot')
    with open(shot, 'wb') as file:
        file.write(base64.b64decode(picture['data']))
    # Of Google's tiles it asks for those beside the picture, too.
    lost = [event['params']['entry']['url'] for event in browser.events if event.get('method') == 'Log.entryAdded' and
            '/favicon.' not in event['params']['entry'].get('url', '/favicon.') and '/g/' not in event['params']['entry']['url']]
    return 'not there: ' + lost[0] if lost else None


def main(library, program, picture, shots=None):
    library, program, picture = (os.path.abspath(one) for one in (library, program, picture))
    with open(picture, 'rb') as file:
        head = file.read(24)
    width, height = int.from_bytes(head[16:20], 'big'), int.from_bytes(head[20:24], 'big')
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        shutil.copy(library, 'openseadragon.js')
        with open('page.html', 'w') as file:
            file.write(PAGE)
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = 'http://127.0.0.1:%d' % server.server_address[1]
        browser = Browser(shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome'), folder + '/profile')
        try:
            for layout, (output, options, source) in sources(width, height, address).items():
                subprocess.run([program, '-q', '-i', picture, '-o', output, '--tile-size=%d' % TILE, '--quality=95', *options.split()], check=True)
                across = width if layout != 'google' else max(TILE << n for n in range(9) if n == 0 or TILE << (n - 1) < max(width, height))
                begin(browser, address, source)
                part = (width // 4, height // 4)  # of the viewer's unit, the width of what it shows
                for name, size, box, chain, least in (
                        ('whole', (width, height), (0, 0, width, height), 'gamma=1', 28),
                        ('small', (width // 4, height // 4), (0, 0, width, height), 'resize=25%:kernel=area', 26),
                        ('part', (width, height), (*part, *part), 'crop=%d:%d:%d:%d,resize=400%%:kernel=triangle' % (*part, *part), 22)):
                    shot = '%s-%s.png' % (layout.replace(' ', '-'), name)
                    wrong = show(browser, *size, [side / across for side in box], shot)
                    found = 0 if wrong else psnr(program, picture, chain, shot)
                    if wrong or found < least:
                        print('%s, %s: %s' % (layout, name, wrong or 'psnr %s, not %d' % (found, least)))
                    if shots and not wrong:
                        print('# %s, %s: psnr %s' % (layout, name, found))
                        shutil.copy(shot, shots)
        finally:
            browser.close()
            server.shutdown()


main(*sys.argv[1:])
