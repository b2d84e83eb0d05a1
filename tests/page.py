"""Looks at pages of --profile=html and the like in headless Chromium, through its debugging pipe.

    page.py [--shots FOLDER] PAGE...

Prints a line of TAP for each check. A page must log nothing to the console and ask no network for anything; every link
must lead to a part of the page; the keys, the wheel and the sliders must do what they say; at 360 pixels nothing may be
wider than the screen. With --shots, pictures of each page are written, light and dark, wide and narrow.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 60


class Browser:
    """A headless Chromium and one tab of it. Every wait is bounded."""

    def __init__(self, program, folder):
        down, self.to = os.pipe()
        self.back, up = os.pipe()

        def streams():
            os.dup2(down, 3)
            os.dup2(up, 4)

        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
             '--disable-extensions', '--hide-scrollbars', '--disable-background-networking', '--disable-component-update',
             '--user-data-dir=' + folder, '--remote-debugging-pipe', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=streams, pass_fds=(3, 4))
        os.close(down)
        os.close(up)
        self.buffer, self.number, self.session, self.events = b'', 0, None, []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def message(self):
        while b'\0' not in self.buffer:
            if not select.select([self.back], [], [], LIMIT_S)[0]:
                raise TimeoutError('the browser says nothing')
            more = os.read(self.back, 1 << 16)
            if not more:
                raise EOFError('the browser has ended')
            self.buffer += more
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.to, json.dumps(request).encode() + b'\0')
        while True:
            answer = self.message()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(method + ': ' + answer['error']['message'])
                return answer['result']
            self.events.append(answer)

    def wait(self, event):
        while not any(one.get('method') == event for one in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'].get('exception', {}).get('description', 'exception'))
        return result['result'].get('value')

    def size(self, width, height=900):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def open(self, path):
        self.events = []
        self.call('Page.navigate', url='file://' + os.path.abspath(path))
        self.wait('Page.loadEventFired')

    def key(self, name, text=''):
        code = {'ArrowLeft': 37, 'ArrowRight': 39, 'Home': 36, 'End': 35}.get(name, ord(text or name[0]))
        self.call('Input.dispatchKeyEvent', type='keyDown', key=name, text=text, windowsVirtualKeyCode=code)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=name, windowsVirtualKeyCode=code)

    def picture(self, path):
        self.value('Promise.all([...document.images].map(i => i.decode())).then(() => 0)')
        height = self.value('document.documentElement.scrollHeight')
        shot = self.call('Page.captureScreenshot', captureBeyondViewport=True,
                         clip={'x': 0, 'y': 0, 'scale': 1, 'height': height,
                               'width': self.value('document.documentElement.clientWidth')})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(shot['data']))

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
        except (OSError, EOFError, TimeoutError):
            pass
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def complaints(browser):
    """What the console says, and what was asked from the network."""
    found = []
    for event in browser.events:
        params = event.get('params', {})
        if event.get('method') == 'Runtime.consoleAPICalled':
            found.append('console: ' + str(params.get('args')))
        elif event.get('method') == 'Runtime.exceptionThrown':
            found.append('exception: ' + str(params['exceptionDetails'].get('exception', {}).get('description')))
        elif event.get('method') == 'Log.entryAdded':
            found.append('log: ' + params['entry']['text'])
        elif event.get('method') == 'Network.requestWillBeSent':
            url = params['request']['url']
            if not url.startswith(('data:', 'file:')):
                found.append('request: ' + url)
        elif event.get('method') == 'Page.javascriptDialogOpening':
            found.append('dialog: ' + params['message'])
    return found


def timelines(browser):
    """The keys and the wheel zoom, move and show all again."""
    found = []
    box = 'document.querySelector(".lanes svg").viewBox.baseVal'
    if not browser.value('!!document.querySelector(".lanes")'):
        return found
    whole = browser.value(box + '.width')
    browser.value('document.querySelector(".lanes").focus()')

    def expect(what, wanted):
        if not wanted:
            found.append(what + ': ' + str(browser.value('[%s.x, %s.width]' % (box, box))))

    browser.key('+', '+')
    browser.key('+', '+')
    expect('+ zooms in', browser.value(box + '.width') == whole / 4)
    at = browser.value(box + '.x')
    browser.key('ArrowRight')
    expect('the arrow moves', browser.value(box + '.x') > at)
    browser.key('Home')
    expect('Home', browser.value(box + '.x') == 0)
    browser.key('End')
    expect('End', browser.value(box + '.x') == whole * 3 / 4)
    browser.key('-', '-')
    expect('- zooms out', browser.value(box + '.width') == whole / 2)
    browser.key('0', '0')
    expect('0 shows all', browser.value('[%s.x, %s.width]' % (box, box)) == [0, whole])
    place = browser.value('(e => (e.scrollIntoView(), (r => [r.x + r.width / 2, r.y + r.height / 2])'
                          '(e.getBoundingClientRect())))(document.querySelector(".lanes svg"))')
    browser.call('Input.dispatchMouseEvent', type='mouseWheel', x=place[0], y=place[1], deltaX=0, deltaY=-100)
    expect('the wheel zooms', browser.value(box + '.width') < whole)
    browser.value('document.querySelector(".zoom button[value=\\"0\\"]").click()')
    expect('the button shows all', browser.value(box + '.width') == whole)
    return found


def sliders(browser):
    """The slider moves the edge between two pictures, by keys as well; two of other shapes stay side by side."""
    browser.value('Promise.all([...document.images].map(i => i.decode())).then(() => 0)')
    if not browser.value('!!document.querySelector(".slider.live input")'):
        return []
    browser.value('document.querySelector(".slider input").focus()')
    look = 'document.querySelector(".slider").style.getPropertyValue("--at")'
    browser.key('ArrowRight')
    before = browser.value(look)
    browser.key('ArrowRight')
    return [] if before and browser.value(look) != before else ['the slider does not move: ' + str(before)]


def links(browser):
    return browser.value('[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))'
                         '.filter(h => !h.startsWith("#") || !document.getElementById(h.slice(1)))')


def narrow(browser):
    """What is wider than a screen of 360 pixels, unless it scrolls by itself."""
    browser.size(360, 740)
    wide = browser.value('document.documentElement.scrollWidth')
    browser.size(1280)
    return [] if wide <= 360 else ['%d pixels wide at 360' % wide]


def scriptless(browser, path):
    """Where scripts are off, the page says so, and draws nothing by halves."""
    browser.call('Emulation.setScriptExecutionDisabled', value=True)
    browser.open(path)
    text = browser.value('document.body.innerText')
    browser.call('Emulation.setScriptExecutionDisabled', value=False)
    browser.open(path)
    return [] if 'scripts are switched off' in text else ['it shows: ' + text[:200]]


def look_at(browser, path, shots):
    browser.size(1280)
    browser.scheme('light')
    browser.open(path)
    yield 'the console is empty, and nothing is asked for', lambda: complaints(browser)
    yield 'there is one heading, and every picture and table has its words', lambda: browser.value(
        '[document.querySelectorAll("h1").length == 1 ? "" : "headings", '
        'document.title == document.querySelector("h1").textContent ? "" : "the title", '
        '...[...document.querySelectorAll("svg, canvas")].map(s => s.getAttribute("aria-label") ? "" : "a drawing without words"), '
        '...[...document.images].map(i => i.alt ? "" : "a picture without words"), '
        '...[...document.querySelectorAll("table")].map(t => t.tHead ? "" : "a table without a head")]'
        '.filter(s => s)')
    yield 'no script of the data ran', lambda: [] if browser.value('typeof window.hostile') == 'undefined' else ['it ran']
    yield 'links lead to parts of the page', lambda: links(browser)
    yield 'the timeline zooms by keys and wheel', lambda: timelines(browser)
    yield 'the slider moves', lambda: sliders(browser)
    yield 'nothing is wider than 360 pixels', lambda: narrow(browser)
    yield 'without scripts the page says where its figures are', lambda: scriptless(browser, path)
    if shots:
        for scheme in ('light', 'dark'):
            browser.scheme(scheme)
            for width in (1280, 840, 360):
                browser.size(width)
                browser.open(path)
                stem = os.path.splitext(os.path.basename(path))[0]
                browser.picture(os.path.join(shots, '%s-%s-%d.png' % (stem, scheme, width)))
    yield 'the console is empty after all that', lambda: complaints(browser)


def main(arguments):
    shots = None
    if arguments[:1] == ['--shots']:
        shots, arguments = arguments[1], arguments[2:]
    program = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    failed = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            browser = Browser(program, folder)
        except (OSError, EOFError, TimeoutError) as error:
            print('ok - page: in a browser # SKIP %s does not start: %s' % (program, error))
            return False
        try:
            for path in arguments:
                for name, check in look_at(browser, path, shots):
                    found = [str(one) for one in check() or []]
                    for one in found:
                        print('# ' + one)
                    print('%sok - page: %s: %s' % ('not ' if found else '', os.path.basename(path), name), flush=True)
                    failed |= bool(found)
        finally:
            browser.close()
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
