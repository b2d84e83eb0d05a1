'use strict';
// Draws the page. Its data are elements with JSON, one for each part: {"kind", "name", "data"}. A
// text of the data becomes text and nothing else. What the data lack is left out or shown as "-".

// ---- elements ----

// Returns the text without characters that could hide or turn what follows them.
const plain = (text) => String(text).replace(/[\n\t]/g, ' ')
  .replace(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, plain(value));
  return element;
}

// Adds children: elements, texts and lists of them. What is empty or false is left out.
function put(element, ...children) {
  element.append(...children.flat(Infinity).filter((child) => child || child === 0)
    .map((child) => (typeof child === 'object' ? child : plain(child))));
  return element;
}

// Makes an element of HTML. `what` is its name and its classes: "td.n".
function h(what, ...children) {
  const [name, ...classes] = what.split('.'), element = document.createElement(name);
  return put(classes.length ? set(element, { class: classes.join(' ') }) : element, ...children);
}

function svg(what, attributes, ...children) {
  const [name, ...classes] = what.split('.');
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  if (classes.length) set(element, { class: classes.join(' ') });
  return put(set(element, attributes), ...children);
}

// ---- values, of which none needs to be what it should be ----

const num = (value) => (typeof value === 'number' && Math.abs(value) < 1e30 ? value : NaN);
const known = (value) => num(value) || 0;
const str = (value) => (typeof value === 'string' ? value : '');
const object = (value) => (value && typeof value === 'object' ? value : {});
const objects = (value) => (Array.isArray(value) ? value.map(object) : []);
const most = (values) => values.reduce((a, b) => (b > a ? b : a), 0);
const threads = (report) => `${known(report.cpu_threads)} thread${report.cpu_threads === 1 ? '' : 's'}`;

const fixed = (value, decimals, unit = '') =>
  (Number.isFinite(value) ? value.toFixed(decimals) + unit : '-');

// Returns a number with at most that many digits: "1200", "0.25", "8.968e+11".
function general(value, digits) {
  const text = value.toExponential(digits - 1), power = Number(text.split('e')[1]);
  if (power >= -4 && power < digits) return String(Number(text));
  return text.replace(/\.?0*e/, 'e');
}

// Returns bytes or a time with three or four digits: "99.5 MB", "93.1 ms".
function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = known(count), unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${value.toFixed(unit && value < 99.95 ? 1 : 0)} ${units[unit]}`;
}
function duration(ms) {
  const units = ['s', 'ms', 'us'];
  let value = known(ms) / 1000, unit = 0;
  for (; value < 0.9995 && unit < units.length - 1; unit++) value *= 1000;
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
}
// Returns the decimals of a time in a table.
const decimals = (ms) => (ms < 10 ? 4 : ms < 100 ? 3 : ms < 1000 ? 2 : 1);

function format(value) {
  const { width, height, channels, bits } = object(value);
  const colours = ['gray', 'gray and alpha', 'RGB', 'RGBA'][channels - 1] || '?';
  return `${known(width)}x${known(height)} ${colours}, ${known(bits)} bits`;
}
const formats = (a, b) => format(a) + (format(a) === format(b) ? '' : ' to ' + format(b));

// Returns a time of a report in ms; `runs` is 0 if it was not measured.
function timing(value, name) {
  const median = num(value[name + '_ms']), runs = known(value.runs) || 1;
  const least = num(value[name + '_least_ms']), greatest = num(value[name + '_most_ms']);
  if (!(median >= 0)) return { runs: 0 };
  return least <= median && median <= greatest ? { runs, median, least, most: greatest } : once(median, runs);
}
const once = (ms, runs = 1) => ({ runs, median: ms, least: ms, most: ms });

// ---- tables and facts ----

const small = (...children) => h('p.small', ...children);
const cell = (value, digits, unit) => h('td.n', fixed(num(value), digits, unit));
const rowHead = (...children) => set(h('th', ...children), { scope: 'row' });
const colHead = (what, ...children) => set(h(what, ...children), { scope: 'col' });
const percent = (part) => (100 * Math.min(Math.max(part, 0), 1)).toFixed(2) + '%';
const width = (part) => 'width:' + percent(part);

// Makes a table. "#calls" is the heading of numbers; bars have none, "".
function table(heads, rows) {
  const head = (name) => (typeof name === 'object' ? name : !name ? h('td')
    : name[0] === '#' ? colHead('th.n', name.slice(1)) : colHead('th', name));
  return h('div.scroll', h('table', h('thead', h('tr', heads.map(head))), h('tbody', rows)));
}

// Makes a field with a bar of that length, 0..1. With `all` the rest up to 1 is drawn, too.
function bar(part, colour, all) {
  if (isNaN(part)) return h('td.bar');
  return h(all ? 'td.bar.of' : 'td.bar', h('b', set(h(`i.s${colour % 8}`), { style: width(part) })));
}

// Makes a bar up to the median, with the spread of the runs drawn across its end.
function timeBar(taken, longest, colour) {
  if (!taken.runs || !(longest > 0)) return h('td.bar');
  const spread = `left:${percent(taken.least / longest)};${width((taken.most - taken.least) / longest)}`;
  return h('td.bar', h('b', set(h(`i.s${colour}`), { style: width(taken.median / longest) }),
    set(h('u'), { style: spread })));
}

const facts = (...list) => h('dl.facts', list.filter((fact) => fact).map(([name, value, kind]) =>
  h(kind ? 'div.' + kind : 'div', h('dt', name), h('dd', value))));

// ---- charts ----

const WIDE = 560, HIGH = 300, RIGHT = 14, TOP = 12, BOTTOM = 46, TICKS = 12;
// The most spans that are drawn. The program itself writes fewer.
const SPANS_MOST = 10000;

// Makes an axis whose ticks are 1, 2 or 5 times a power of ten apart. `part` tells where on the
// axis a value is, 0..1. With `whole` the ends of the axis are ticks.
function linear(low, high, count, whole) {
  if (!(high > low)) high = low + (Math.abs(low) || 1);
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => rough / power <= times || times === 10);
  if (whole) {
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
  }
  const first = Math.ceil(low / step - 1e-9), ticks = [];
  for (let i = first; ticks.length < TICKS && i * step <= high + 1e-9 * step; i++) ticks.push(i * step);
  return { ticks, part: (value) => (value - low) / (high - low) };
}

function logarithmic(low, high, base) {
  const ticks = [], span = Math.log10(high) - Math.log10(low);
  let every = 1, power = Math.floor(Math.log(low) / Math.log(base) + 1e-9);
  while (span / Math.log10(base) / every > TICKS - 2) every *= 2;
  for (; base ** power <= high * (1 + 1e-9) && ticks.length < TICKS; power += every)
    if (base ** power >= low * (1 - 1e-9)) ticks.push(base ** power);
  if (ticks.length < 3 && base === 10) return fine(low, high);
  return { ticks, part: (value) => (Math.log10(value) - Math.log10(low)) / (span < 1e-9 ? 1 : span) };
}

// Makes a logarithmic axis of few powers of ten: its ticks are 1, 2 and 5 times such a power.
function fine(low, high) {
  const span = Math.log10(high) - Math.log10(low), ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * (1 + 1e-9); power++)
    ticks.push(...[1, 2, 5].map((times) => times * 10 ** power)
      .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)));
  return { ticks, part: (value) => (Math.log10(value) - Math.log10(low)) / (span < 1e-9 ? 1 : span) };
}

function axes(chart) {
  const points = chart.series.flatMap((series) => series.points.filter(isShown));
  const range = (values) => values.filter(isFinite)
    .reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const x = range(points.map((point) => point.x));
  const y = range([...points.flatMap((point) => [point.y, point.least, point.most]),
    ...chart.marks.map((mark) => mark.y)]);
  if (!points.length) return null;
  return {
    x: chart.logX && x[0] > 0 ? logarithmic(...x, x[1] / x[0] > 2000 ? 10 : 2) : linear(...x, 8, false),
    y: chart.logY && y[0] > 0 ? logarithmic(...y, 10)
      : linear(Math.min(0, y[0]), Math.max(0, y[1]), 5, true),
  };
}
const isShown = (point) => isFinite(point.x) && isFinite(point.y);

// Returns a number that is short enough for a tick: "1200", "16384", "0.25", "128 Ki", "20 G".
function tick(value) {
  const binary = Math.log2(value);
  if (binary >= 17 && binary < 40 && Number.isInteger(binary))
    return 2 ** (binary % 10) + [' Ki', ' Mi', ' Gi'][Math.floor(binary / 10) - 1];
  if (Math.abs(value) < 1e5) return Number.isInteger(value) ? String(value) : general(value, 4);
  let unit = 0;
  for (; Math.abs(value) >= 1000 && unit < 4; unit++) value /= 1000;
  return general(value, 4) + ['', ' k', ' M', ' G', ' T'][unit];
}

function curve(series, colour, x, y) {
  let line = '', draws = false;
  for (const point of series.points) {
    if (isShown(point)) line += (draws ? 'L' : 'M') + x(point.x) + ' ' + y(point.y);
    draws = isShown(point);
  }
  const dots = series.plain ? [] : series.points.filter(isShown).map((point) => {
    const spread = point.most > point.least;
    const says = `${series.name}: ${general(point.y, 4)} at ${general(point.x, 6)}` +
      (spread ? ` (${general(point.least, 4)} to ${general(point.most, 4)})` : '');
    return [spread && svg('path.spread.' + colour, { d: `M${x(point.x)} ${y(point.least)}V${y(point.most)}` }),
      svg('circle.' + colour, { cx: x(point.x), cy: y(point.y), r: 3.4 }, svg('title', {}, says))];
  });
  return [svg('path.curve.' + colour, { d: line }), dots];
}

// Draws curves; that of a limit is dashed, in no series' colour. A mark is a value from another source, a dashed line across the
// drawing; the names of marks are above and below their lines in turns, so that two close names can be read.
function chart(data) {
  const found = axes(data);
  if (!found) return null;
  // Beside the title of the axis the longest tick has room.
  const left = Math.max(62, 36 + 7.4 * most(found.y.ticks.map((value) => tick(value).length)));
  const x = (value) => (left + found.x.part(value) * (WIDE - left - RIGHT)).toFixed(1);
  const y = (value) => (HIGH - BOTTOM - found.y.part(value) * (HIGH - TOP - BOTTOM)).toFixed(1);
  const limits = data.series.filter((series) => series.limit).length;
  const colour = (series, i) => (series.limit ? 'limit' : 's' + (i - limits) % 8);
  const across = (name, at) => svg('path.' + name, { d: `M${left} ${at}H${WIDE - RIGHT}` });
  const named = (attributes, text) => svg('text.x.name', attributes, text);
  const drawing = svg('svg.chart', {
    viewBox: `0 0 ${WIDE} ${HIGH}`, role: 'img', 'aria-label': `${data.yName} over ${data.xName}`,
  },
  found.y.ticks.map((value) => [across('grid', y(value)),
    svg('text.y', { x: left - 8, y: Number(y(value)) + 4 }, tick(value))]),
  found.x.ticks.map((value) => svg('text.x', { x: x(value), y: HIGH - BOTTOM + 18 }, tick(value))),
  named({ x: (left + WIDE - RIGHT) / 2, y: HIGH - 8 }, data.xName),
  named({ transform: `translate(14 ${(TOP + HIGH - BOTTOM) / 2}) rotate(-90)` }, data.yName),
  data.marks.map((mark, i) => {
    const at = Number(y(mark.y)), low = i % 2 || at < TOP + 16;
    return [across('mark', at), svg('text.mark', { x: WIDE - RIGHT - 2, y: low ? at + 15 : at - 6 }, mark.name)];
  }),
  data.series.map((series, i) => curve(series, colour(series, i), x, y)));
  return h('figure', data.title && h('figcaption', data.title), drawing,
    data.series.length > 1 && h('p.keys', data.series.map((series, i) =>
      h('span', h('span.key.' + colour(series, i)), series.name))));
}

// ---- the timeline ----

// A timeline shows the part from..to of its whole width, both 0..1.
function zoomable(box, drawing, buttons) {
  const ticks = box.querySelectorAll('.axis span'), view = drawing.viewBox.baseVal;
  const whole = view.width, total = Number(box.dataset.ms);
  let from = 0, to = 1;
  function show(a, b) {
    const part = Math.min(1, Math.max(b - a, 1e-4));
    from = Math.min(Math.max(0, a), 1 - part);
    to = from + part;
    view.x = from * whole;
    view.width = part * whole;
    const digits = Math.max(0, Math.ceil(1 - Math.log10(part * total)));
    ticks.forEach((one, i) => {
      one.textContent = ((from + part * i / (ticks.length - 1)) * total).toFixed(digits) + ' ms';
    });
  }
  function zoom(factor, at) {
    const middle = from + (to - from) * at, part = (to - from) * factor;
    show(middle - part * at, middle + part * (1 - at));
  }
  const place = (event) => {
    const edge = drawing.getBoundingClientRect();
    return (event.clientX - edge.left) / edge.width;
  };
  const move = (part) => show(from + (to - from) * part, to + (to - from) * part);
  const keys = {
    '+': () => zoom(0.5, 0.5), '=': () => zoom(0.5, 0.5), '-': () => zoom(2, 0.5),
    '0': () => show(0, 1), Home: () => show(0, to - from), End: () => show(1 - (to - from), 1),
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
  };
  box.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    keys[event.key]();
    event.preventDefault();
  });
  // Where there is nothing to zoom out of, the wheel scrolls the page.
  box.addEventListener('wheel', (event) => {
    if (event.deltaY > 0 && to - from >= 1) return;
    zoom(event.deltaY < 0 ? 0.8 : 1.25, place(event));
    event.preventDefault();
  }, { passive: false });
  box.addEventListener('pointerdown', (event) => {
    let last = place(event);
    box.setPointerCapture(event.pointerId);
    box.classList.add('moving');
    box.onpointermove = (next) => { move(last - place(next)); last = place(next); };
  });
  box.addEventListener('lostpointercapture', () => {
    box.onpointermove = null;
    box.classList.remove('moving');
  });
  buttons.forEach((button) => button.addEventListener('click', () => keys[button.value]()));
}

// Puts the spans on tracks: the start of the device, the reader, every lane, and the writer. Spans
// of a track that overlap are on layers of it. Returns the rows of the drawing.
function tracks(spans, stages) {
  const rows = new Map(), WRITER = 1e9;
  const track = (span) => (span.stage < 0 ? 0 : span.lane >= 0 ? 2 + span.lane
    : stages[span.stage].kind === 'encode' ? WRITER : 1);
  const sorted = spans.map((span) => ({ ...span, track: track(span) }))
    .sort((a, b) => a.track - b.track || a.begin - b.begin);
  for (const span of sorted) {
    const layers = rows.get(span.track) || rows.set(span.track, []).get(span.track);
    const layer = layers.find((one) => one[one.length - 1].end <= span.begin);
    if (layer) layer.push(span);
    else layers.push([span]);
  }
  return [...rows].flatMap(([at, layers]) => layers.map((layer, i) => ({
    spans: layer,
    name: (at === 0 ? 'CUDA start' : at === 1 ? 'reader' : at === WRITER ? 'writer' : `lane ${at - 2}`) +
      (i ? ` (${i + 1})` : ''),
  })));
}

// Draws what each lane did. Of a span: its stage's index, the lane, begin and end in ms, bytes, and
// how many spans were joined in it.
function timeline(list, stages, note) {
  const spans = (Array.isArray(list) ? list : []).filter(Array.isArray).slice(0, SPANS_MOST).map((one) => {
    const begin = Math.max(0, known(one[2]));
    return { stage: Number.isInteger(one[0]) && stages[one[0]] ? one[0] : -1, lane: num(one[1]), begin,
      end: Math.max(begin, known(one[3])), bytes: known(one[4]), times: known(one[5]) };
  });
  const end = most(spans.map((span) => span.end)), rows = tracks(spans, stages);
  if (!(end > 0)) return null;
  const UNITS = 100000, tall = rows.length > 12 ? 14 : 24, digits = end < 10 ? 2 : end < 100 ? 1 : 0;
  const says = (span) => (span.stage < 0 ? 'CUDA start' : str(stages[span.stage].name)) +
    (span.times > 1 ? `, ${span.times} times` : '') +
    `: ${(span.end - span.begin).toFixed(3)} ms at ${span.begin.toFixed(3)} ms` +
    (span.bytes > 0 ? ', ' + bytes(span.bytes) : '');
  const box = (span, row) => svg('rect.' + (span.stage < 0 ? 'start' : 's' + span.stage % 8), {
    x: (span.begin / end * UNITS).toFixed(0), y: row * tall + 2, height: tall - 4,
    width: Math.max(1, (span.end - span.begin) / end * UNITS).toFixed(0),
  }, svg('title', {}, says(span)));
  const drawing = svg('svg', {
    viewBox: `0 0 ${UNITS} ${rows.length * tall}`, height: rows.length * tall,
    preserveAspectRatio: 'none', role: 'img', 'aria-label': 'What each lane did, and when',
  }, rows.map((row, i) => row.spans.map((span) => box(span, i))));
  const axis = set(h('div.axis', [0, 1, 2, 3, 4].map((i) => h('span', (end * i / 4).toFixed(digits) + ' ms'))),
    { 'aria-hidden': 'true' });
  const lanes = set(h('div.lanes', drawing, axis), { tabindex: 0, role: 'group', 'data-ms': end,
    'aria-label': 'Timeline: plus and minus zoom, arrows move, 0 shows all of it' });
  const buttons = [set(h('button', '\u2212'), { value: '-', 'aria-label': 'zoom out' }),
    set(h('button', '+'), { value: '+', 'aria-label': 'zoom in' }), set(h('button', 'all'), { value: '0' })];
  zoomable(lanes, drawing, buttons);
  return [h('h3', 'When each lane did what'),
    set(h('div.timeline', h('ol', rows.map((row) => h('li', row.name))), lanes,
      h('div.zoom', buttons, h('span', 'wheel, + and \u2212 zoom; arrows and dragging move'))),
    { style: `--row:${tall}px` }), note];
}

// ---- a run ----

function elapsed(report) {
  const pictures = known(report.pictures), rate = num(report.pictures_per_s);
  return pictures > 1 && rate > 0 ? 1e3 * pictures / rate : num(report.wall_ms);
}

function runFacts(report, bound) {
  const pictures = known(report.pictures) || 1, frames = known(report.frames);
  const count = (key) => String(known(report[key]));
  return facts(['wall time', duration(elapsed(report))],
    pictures > 1 && ['pictures', pictures],
    pictures > 1 && ['pictures a second', fixed(num(report.pictures_per_s), 1)],
    frames > pictures && ['frames', frames],
    frames > pictures && ['frames a second', fixed(num(report.frames_per_s), 1)],
    bound && ['bound by', startBounds(report, bound) ? 'CUDA start' : str(bound.name)],
    ['overlap', fixed(100 * known(report.overlap), 0, '%')],
    report.start_ms > 0 && ['CUDA start', duration(report.start_ms)],
    report.out_bytes > 0 && ['file', bytes(report.out_bytes)],
    report.quality > 0 && ['quality', `${count('quality')} by ${count('tries')} tries`],
    Number.isFinite(num(report.score)) && ['score', general(report.score, 5)],
    ['bands of', count('band_rows') + ' rows'], ['lanes', count('lanes')], ['segments', count('segments')],
    ['device', `${str(report.device)} (${str(report.reason)})`, 'wide'],
    ['picture', formats(report.in, report.out), 'wide']);
}

// Whether the start of CUDA takes longer than the stage that is busy longest.
const startBounds = (report, bound) => known(report.start_ms) > known(bound.busy_ms);

// What bounds the run, in a sentence: the start of CUDA, or the stage that is busy longest.
function runBound(report, bound, wall) {
  const part = (ms) => `${fixed(100 * ms / wall, 0, '%')} of the wall time`, busy = known(bound.busy_ms);
  const why = str(report.bound_why) && ` What holds it back is ${str(report.bound_why)}.`;
  const starts = startBounds(report, bound), says = starts
    ? [h('strong', 'The start of CUDA'), ` bounds the run: it takes ${part(known(report.start_ms))}. Of the stages `,
      h('strong', str(bound.name)), ` is busy longest, for ${part(busy)}.`]
    : [h('strong', str(bound.name)), ` bounds the run: it is busy for ${part(busy)}.`];
  return h('div.says', h('p', says, !starts && why), str(report.bound_guide) && small('Best Practices Guide ' + report.bound_guide));
}

function runPeaks(report) {
  const { device_copy_gb_s: copy, upload_gb_s: up, download_gb_s: down } = object(report.peaks);
  return copy > 0 && small(`Copies measured in this run: ${fixed(num(copy), 1)} GB/s, read and written`,
    up > 0 && `; upload ${fixed(num(up), 1)} GB/s, download ${fixed(num(down), 1)} GB/s`,
    '. A stage that stays in a cache can pass 100%.');
}

// `joined` has the spans of a run that are too many to be saved: {"gap_ms", "count", "spans"}.
function run(report, joined) {
  const stages = objects(report.stages), busy = stages.map((stage) => known(stage.busy_ms));
  const bound = stages[busy.indexOf(most(busy))], wall = known(report.wall_ms);
  const row = (stage, i) => h(stage === bound ? 'tr.chosen' : 'tr',
    rowHead(h(`span.key.s${i % 8}`), str(stage.name)), h('td.n', known(stage.calls)), cell(busy[i], 3),
    bar(most(busy) > 0 ? busy[i] / most(busy) : NaN, i), h('td.n', bytes(stage.bytes)),
    cell(stage.gb_s > 0 ? stage.gb_s : NaN, 2), cell(stage.peak_percent, 1, '%'),
    bar(num(stage.peak_percent) / 100, i, true));
  return [runFacts(report, bound),
    bound && wall > 0 && runBound(report, bound, wall),
    timeline(joined ? joined.spans : report.spans, stages, joined && small(
      `${joined.count} spans are drawn as ${joined.spans.length} boxes: those of one stage that follow each ` +
      `other within ${joined.gap_ms.toFixed(3)} ms are joined. `, h('code', '--trace'), ' writes every one.')),
    h('h3', 'What each stage took'),
    table(['stage', '#calls', '#busy ms', '', '#bytes', '#GB/s', '#of a copy', ''], stages.map(row)),
    runPeaks(report)];
}

// ---- a batch ----

function batchRate(batch) {
  const slices = Array.isArray(batch.slices) ? batch.slices : [];
  const slice = batch.work_s / slices.length;
  if (!(batch.rate > 0) || !(batch.done >= slices.length)) return null;
  return chart({
    title: 'Pictures a second', xName: 'seconds of work', yName: 'pictures a second',
    series: [{ name: 'pictures a second', plain: true,
      points: slices.map((count, i) => ({ x: (i + 0.5) * slice, y: count / slice })) }],
    marks: [{ name: 'mean ' + batch.rate.toFixed(1), y: batch.rate }],
  });
}

function batchOutliers(batch) {
  const list = objects(batch.outliers), total = timing(batch, 'total');
  return list.length > 0 && [h('h3', 'Pictures that took far longer'),
    small(`${batch.beyond} took more than ${fixed(num(batch.fence_ms), 1)} ms, past the middle half by three ` +
      'times its length', batch.beyond > list.length && '; the slowest are', '.'),
    table(['picture', '#size', '#ms', '', '#of the median', '#decode', '#filter', '#encode'], list.map((one) =>
      h('tr', rowHead(str(one.input)), h('td.n', `${one.width}x${one.height}`), cell(one.total_ms, 1),
        bar(one.total_ms / list[0].total_ms, 0), cell(one.total_ms / total.median, 1, '\u00d7'),
        cell(one.decode_ms, 1), cell(one.filter_ms, 1), cell(one.encode_ms, 1))))];
}

function batch(report) {
  const stages = objects(report.stages), sums = stages.map((stage) => known(stage.all_ms));
  const longest = most(sums) > 0 && stages[sums.indexOf(most(sums))], total = timing(report, 'total');
  const ways = objects(report.ways), failures = objects(report.failures);
  const stage = (one, i) => one.all_ms > 0 && h(one === longest ? 'tr.chosen' : 'tr', rowHead(str(one.name)),
    cell(one.all_ms / 1e3, 3), bar(one.all_ms / longest.all_ms, i), cell(one.picture_ms, 3),
    h('td.n', `${fixed(num(one.picture_least_ms), 3)} to ${fixed(num(one.picture_most_ms), 3)}`));
  return [facts(['pictures done', report.done], ['failed', report.failed], ['skipped', report.skipped],
    ['pictures a second', fixed(num(report.rate), 1)],
    report.rate > 0 && ['in work', duration(1e3 * report.work_s)],
    report.rate > 0 && ['from first to last', duration(1e3 * report.span_s)],
    total.runs > 0 && ['a picture, median', duration(total.median)]),
  longest && h('div.says', h('p', h('strong', str(longest.name)), ' takes most: ',
    fixed(100 * longest.all_ms / sums.reduce((a, b) => a + b), 0),
    '% of the work of all threads and lanes together.')),
  batchRate(report),
  longest && [h('h3', 'Where the work is'),
    table(['stage', '#all, s', '', '#a picture, ms', '#middle half, ms'], stages.map(stage))],
  ways.length > 0 && [h('h3', 'Device and codec'), table(['device', '#pictures'],
    ways.map((way) => h('tr', rowHead(str(way.text)), h('td.n', way.pictures))))],
  batchOutliers(report),
  failures.length > 0 && [h('h3', 'Failures'), table(['message', '#pictures', 'of them'], failures.map((one) =>
    h('tr', rowHead(str(one.message)), h('td.n', one.pictures),
      h('td', one.names.join(', '), one.pictures > one.names.length && ' and others'))))],
  report.damaged > 0 && small(`Lines of the log that a killed run left unfinished: ${report.damaged}.`),
  !(report.rate > 0) && report.done > 0 && small('This log does not say when each picture was done, so that ' +
    'nothing tells pictures a second.')];
}

// ---- a comparison ----

// The colours of the variant that the chain runs, of the naive variant, and of the others.
const CHOSEN = 0, NAIVE = 7, OTHER = 4;

// Returns the kernel that a row shows: the first with the least occupancy.
const kernelOf = (row) => objects(row.kernels).reduce((worst, kernel) =>
  (!worst || kernel.occupancy_percent < worst.occupancy_percent ? kernel : worst), null);

// Returns the row to which the others' over_naive refers.
const naiveOf = (rows) => rows.findLast((row) => row.name === 'naive') ||
  rows.find((row) => Math.abs(row.over_naive - 1) < 1e-9);

function variant(row, colour, longest, onGpu) {
  const name = rowHead(str(row.name), onGpu && str(row.summary) && h('span.what', row.summary));
  const line = (...fields) => h(row.chosen === true ? 'tr.chosen' : 'tr', name, ...fields);
  const warm = timing(row, 'warm'), kernel = kernelOf(row) || {}, ms = warm.runs ? warm.median : NaN;
  const times = (value) => cell(value, value < 10 ? 2 : 1, '\u00d7');
  if (str(row.refused))
    return line(set(h('td.soft', 'not run: ' + row.refused), { colspan: onGpu ? 11 : 7 }));
  return line(cell(ms, decimals(ms)), timeBar(warm, longest, colour), times(row.over_naive), times(row.over_cpu),
    cell(row.copy_percent, 1, '%'), bar(num(row.copy_percent) / 100, colour, true),
    onGpu && [cell(kernel.registers, 0), cell(kernel.shared_bytes, 0), cell(kernel.local_bytes, 0),
      cell(kernel.occupancy_percent, 0, '%')],
    row.difference > known(row.tolerance) ? h('td.n.bad', `${fixed(num(row.difference), 0)}: wrong`)
      : cell(row.difference, 0));
}

// Makes the name that a comparison and Nsight Compute have in common: "rows<3,0>" for
// "void <unnamed>::rows<(int)3, false>(const unsigned char *)".
function kernelName(name) {
  const short = str(name).replace(
    /void |\(anonymous namespace\)::|<unnamed>::|\(int\)|\(bool\)|unsigned | |false|true/g,
    (found) => ({ false: '0', true: '1' })[found] || '');
  let angles = 0, end = 0;
  for (; end < short.length && (angles || short[end] !== '('); end++)
    angles += (short[end] === '<') - (short[end] === '>');
  return short.slice(0, Math.min(end, 71));
}

const kernelKey = (kernel) => JSON.stringify([kernelName(kernel.name), kernel.grid, kernel.block]);

// Returns the counts of several files by kernel. Where two count the same, the last file's holds.
function counted(files) {
  const kernels = files.flatMap(({ data }) => data.kernels.slice().reverse());
  return { instructions: new Map(kernels.map((one) => [kernelKey(one), one.instructions])),
    issue: most(files.map(({ data }) => data.issue_peak)) };
}

// Returns the instructions of all kernels of the row; NaN unless each was counted.
function instructions(row, counters) {
  const counts = objects(row.kernels).map((kernel) => num(counters.instructions.get(kernelKey(kernel))));
  return counts.length ? counts.reduce((a, b) => a + b) : NaN;
}

// Draws instructions against bytes: each variant of a stage below two roofs, which are the limits
// of memory and of the schedulers (Williams, Waterman, Patterson 2009, with warp instructions
// instead of operations, as Ding and Williams 2019).
function roofline(stage, report, counters) {
  const copy = 1e9 * known(object(report.peaks).device_copy_gb_s), issue = counters.issue;
  if (!(copy > 0) || !(issue > 0)) return null;
  const series = objects(stage.variants).map((row) => {
    const count = instructions(row, counters), warm = timing(row, 'warm'), rate = (ms) => 1e3 * count / ms;
    return { name: str(row.name), points: [{ x: count / stage.bytes, y: rate(warm.median),
      least: rate(warm.most), most: rate(warm.least) }] };
  }).filter(({ points: [point] }) => isShown(point) && point.x > 0 && point.y > 0);
  if (!series.length) return null;
  const places = series.map((one) => one.points[0].x);
  const low = Math.min(...places) / 2, high = Math.max(...places) * 2;
  const roof = [low, Math.min(Math.max(issue / copy, low), high), high]
    .map((x) => ({ x, y: Math.min(x * copy, issue) }));
  return chart({
    title: 'Instructions against bytes', xName: 'instructions of a warp for each byte that must move',
    yName: 'instructions of a warp a second', logX: true, logY: true, marks: [],
    series: [{ name: 'what a copy moves, and one instruction a cycle and scheduler', points: roof, plain: true, limit: true },
      ...series],
  });
}

// Draws the pixels around the largest difference, enlarged: RGB in hexadecimal digits, row by row.
function spot(name, { x, y, width: columns, height, expected, found, difference }) {
  const pixels = (words, colours) => {
    const canvas = set(h('canvas'), { width: columns, height, role: 'img', 'aria-label': words + ', enlarged' });
    const context = canvas.getContext('2d');
    for (let i = 0; i < columns * height; i++) {
      context.fillStyle = '#' + colours.slice(6 * i, 6 * i + 6);
      context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
    }
    return h('figure', h('figcaption', words), canvas);
  };
  return [small(`Where ${name} differs most from the CPU's picture: ${columns}x${height} pixels at ${x}, ${y}`),
    h('div.spot', pixels("the CPU's", expected), pixels(name, found), pixels('the difference', difference))];
}

function stageOf(stage, report, onGpu, counters, spots) {
  const rows = objects(stage.variants), naive = naiveOf(rows);
  const longest = most(rows.map((row) => timing(row, 'warm')).map((warm) => (warm.runs ? warm.most : 0)));
  const colour = (row) => (row.chosen === true ? CHOSEN : row === naive ? NAIVE : OTHER);
  const shown = onGpu ? [...rows.slice(1), ...rows.slice(0, 1)] : rows; // the default comes last
  return [h('h3', str(stage.name)),
    small(`${formats(stage.in, stage.kind === 'statistic' ? stage.in : stage.out)}; at least ${bytes(stage.bytes)} ` +
      `must move; CPU, ${threads(report)}: ${duration(stage.cpu_ms)}`),
    table([onGpu ? 'variant, from naive to default' : 'threads', '#ms', '', onGpu ? '#over naive' : '#over first',
      '#over CPU', '#of copy', '', ...(onGpu ? ['#regs', '#shared', '#spills', '#occ.'] : []), '#diff.'],
    shown.map((row) => variant(row, colour(row), longest, onGpu))),
    roofline(stage, report, counters),
    spots.map((one) => spot(str(object(rows[one.row]).name), one))];
}

// Draws the runs that set only `name`, such as "lanes=4", in order of its value. `asked` is its
// value in the first run, which is as the user asked; NaN leaves that run out.
function settings(runs, name, asked, title, xName, onGpu) {
  const points = runs.map((one, i) => {
    const [key, value] = str(one.name).split('=');
    const total = timing(one, 'total'), x = i ? (key === name ? parseFloat(value) : NaN) : asked;
    return { x, y: total.median, least: total.least, most: total.most, estimate: num(one.estimate_ms) };
  }).filter(isShown).sort((a, b) => a.x - b.x);
  const estimates = points.map((point) => ({ x: point.x, y: point.estimate }));
  return points.length > 1 && chart({
    title, xName, yName: 'ms, from memory to memory', logX: true, marks: [],
    series: [{ name: 'measured', points }, { name: "the guide's estimate (9.1.2)", points: estimates }]
      .slice(0, onGpu ? 2 : 1),
  });
}

function wholeChain(runs, onGpu) {
  const longest = most(runs.map((one) => timing(one, 'total').most || 0)), asked = num(object(runs[0]).band_rows);
  const row = (one, i) => {
    const total = timing(one, 'total'), estimate = num(one.estimate_ms);
    return h(i ? 'tr' : 'tr.chosen', rowHead(str(one.name)), str(one.refused)
      ? set(h('td.soft', 'not run: ' + one.refused), { colspan: 6 })
      : [cell(total.median, decimals(total.median)), timeBar(total, longest, i ? OTHER : CHOSEN), cell(one.lanes, 0),
        cell(one.band_rows, 0), cell(100 * num(one.overlap), 0, '%'), cell(estimate, decimals(estimate))]);
  };
  return [h('h3', 'The whole chain, from memory to memory'),
    h('div.charts', settings(runs, 'lanes', NaN, 'Bands in flight', 'lanes', onGpu),
      settings(runs, 'threads', NaN, 'Threads of the CPU', 'threads', onGpu),
      settings(runs, 'band-rows', asked, 'Size of the bands', 'rows of a band', onGpu)),
    table(['setting', '#ms', '', '#lanes', '#band rows', '#overlap', '#estimate ms'], runs.map(row))];
}

function comparison(report, counters, spots) {
  const onGpu = str(report.device).startsWith('cuda:'), runs = objects(report.pipeline);
  const { device_copy_gb_s: copy, upload_gb_s: up, download_gb_s: down } = object(report.peaks);
  return [facts(['device', `${str(report.device)} (${str(report.reason)})`, 'wide'],
    ['picture', formats(report.in, report.out), 'wide'], ['CPU', threads(report)],
    ['copy, read and written', fixed(copy > 0 ? copy : NaN, 1, ' GB/s')],
    up > 0 && ['upload and download', `${fixed(num(up), 1)} and ${fixed(num(down), 1)} GB/s`]),
  objects(report.stages).map((stage, i) => stageOf(stage, report, onGpu, counters,
    spots.filter((one) => one.stage === i))),
  runs.length > 0 && wholeChain(runs, onGpu),
  small('Shaded: what the chain runs. Bars end at the median of warm runs; the thin line is from the least to the ' +
    "most. Difference: the largest from the CPU's picture or counts, in steps.",
  onGpu && ' Registers and spills (bytes of local memory) of a thread, shared bytes of a block and theoretical ' +
    'occupancy are of the kernel of least occupancy.')];
}

// ---- labs ----

// A sign beside the word, for people who cannot tell the colours apart.
const REMARKS = { right: ['\u2713', 'good'], wrong: ['\u2715', 'bad'], agrees: ['=', 'good'],
  differs: ['\u2260', 'bad'], note: ['\u00b7', 'soft'] };
const kindOf = (remark) => (Object.hasOwn(REMARKS, str(remark.kind)) ? remark.kind : 'note');
const remarks = (lab, kind) => objects(lab.remarks).filter((remark) => kindOf(remark) === kind);

function figure(value, column) {
  const digits = column.decimals >= 0 && column.decimals <= 9 ? Math.floor(column.decimals) : 2;
  const tiny = value && Math.abs(value) < 0.5 * 10 ** -digits && column.unit !== '%';
  // An error of 1e-7 must not appear as 0.
  return tiny || Math.abs(value) >= 1e9 ? general(value, 3) : fixed(value, digits);
}

function labChart(lab, columns, rows, plot) {
  const unit = str(plot.x_unit);
  return chart({
    title: '', xName: plot.x + (unit && ', ' + unit), yName: `${plot.y}, ${plot.y_unit}`,
    logX: plot.log_x, logY: plot.log_y, marks: plot.marks.map((mark) => ({ name: mark.name, y: mark.value })),
    series: columns.map((column, c) => ({ name: str(column.name), unit: column.unit, plain: rows.length > 40,
      points: rows.map((row) => ({ x: num(row.x), y: row.value(c) })) }))
      .filter((series) => series.unit === plot.y_unit),
  });
}

// Makes the table of a lab. Without a curve, a column has bars: that of the guide's figures, or of
// the plot, or the first. The guide's figure of a row is a stroke across its bar.
function labTable(lab, columns, rows, plot, curve) {
  const [first] = plot.marks, markOf = (row) => plot.marks.find((mark) => mark.row && mark.row === row.label);
  const bars = curve ? -1 : Math.max(0, columns.findIndex((column) =>
    (first ? column.name === first.column : plot.y_unit && column.unit === plot.y_unit)));
  const longest = most(rows.flatMap((row) => [row.value(bars), (markOf(row) || {}).value]));
  const withBar = (row) => {
    const mark = markOf(row), value = row.value(bars);
    return h('td.bar', h('b', value > 0 && longest > 0 && set(h('i.s0'), { style: width(value / longest) }),
      mark && longest > 0 && set(h('s'), { style: 'left:' + percent(mark.value / longest) })),
    mark && h('span.what', `guide: ${mark.value}, ${mark.name}`));
  };
  return table([colHead('th', str(lab.rows_name)), ...columns.flatMap((column, c) =>
    [colHead('th.n', str(column.name), str(column.unit) && ', ' + column.unit), ...(c === bars ? [''] : [])])],
  rows.map((row) => h('tr', rowHead(str(row.label), str(row.reason) && h('span.what', row.reason)),
    columns.map((column, c) => [h('td.n', figure(row.value(c), column)), c === bars && withBar(row)]))));
}

// Returns what is cited with the guides' names: "4, 9.2.1" becomes "CUDA C++ Best Practices Guide, 9.2.1".
const guideNamed = (cited, guides) => cited.split(/; */).map((one) =>
  one.replace(/^\d(?=,|$)/, (number) => guides[number - 1] || number)).join('; ');

function lab(one, id, plots, guides) {
  const columns = objects(one.columns), plot = (Object.hasOwn(plots, str(one.lab)) && plots[one.lab]) || { marks: [] };
  const rows = objects(one.rows).map((row) => ({ ...row,
    value: (c) => num(Array.isArray(row.values) ? row.values[c] : NaN) }));
  const curve = plot.x && !plot.bars, guide = str(one.figure) && ': ' + one.figure;
  const figures = rows.length > 0 && labTable(one, columns, rows, plot, curve);
  return set(h('article', h('h3', str(one.lab)), h('p', str(one.summary)),
    small(`${guideNamed(str(one.guide), guides)}${guide}`),
    h('ul.remarks', objects(one.remarks).map((remark) => {
      const [sign, colour] = REMARKS[kindOf(remark)];
      return h('li', h('span.' + colour, `${sign} ${kindOf(remark)}`), ' ', str(remark.text));
    })),
    curve ? [labChart(one, columns, rows, plot), h('details', h('summary', 'The figures'), figures)] : figures,
    small(`${str(one.settings)}; ${known(one.elapsed_s).toFixed(2)} s`)), { id });
}

function labs(report, id, plots, guides) {
  const list = objects(Array.isArray(report) ? report : [report]);
  const claims = (kind) => list.reduce((sum, one) => sum + remarks(one, kind).length, 0);
  const count = (one, kind) => remarks(one, kind).length, bad = (one) => (count(one, 'differs') ? 'td.n.bad' : 'td.n');
  return [h('div.says', h('p', list.length ? str(list[0].device) : 'no lab ran', ": of the guides' claims ",
    h('strong', `${claims('agrees')} hold`), ' here, and ', h('strong', `${claims('differs')} do not`), '.')),
  list.length > 1 && table(['lab', 'what it teaches', '#agrees', '#differs'], list.map((one, i) =>
    h('tr', rowHead(set(h('a', str(one.lab)), { href: `#${id}-${i}` })), h('td', str(one.summary)),
      h('td.n', count(one, 'agrees')), h(bad(one), count(one, 'differs'))))),
  list.map((one, i) => lab(one, `${id}-${i}`, plots, guides)),
  small('Dashed lines and strokes across bars are the guide\'s figures, of its hardware.')];
}

// ---- reports of one kind side by side ----

const CHAIN = 'the whole chain';

// The times of a report: [group, name, timing].
const timesOf = {
  run: (data) => [['', 'wall time', once(elapsed(data), elapsed(data) >= 0 ? 1 : 0)],
    ...objects(data.stages).map((stage) => ['', str(stage.name), once(known(stage.busy_ms))])],
  comparison: (data) => [...objects(data.stages).flatMap((stage) => objects(stage.variants)
    .map((row) => [str(stage.name), str(row.name), timing(row, 'warm')])),
  ...objects(data.pipeline).map((one) => [CHAIN, str(one.name), timing(one, 'total')])],
  batch: (data) => [['', 'a picture', timing(data, 'total')],
    ...objects(data.stages).filter((stage) => stage.all_ms > 0)
      .map((stage) => ['', str(stage.name), timing({ ...stage, runs: data.runs }, 'picture')])],
};

const deviceOf = ({ kind, data }) => str(kind === 'batch' ? object(objects(data.ways)[0]).text
  : (Array.isArray(data) ? object(data[0]) : data).device);

const sideHeads = (parts, first) => [first, ...parts.map((part) =>
  colHead('th.n.side', part.name, h('span.what', deviceOf(part))))];

// A time beside the first report's. It is faster or slower only if no run of one lies within the
// range of the other's runs, which takes two runs of each.
function beside(first, taken, isFirst) {
  if (!taken) return h('td.n.soft', '-');
  const two = first && first.runs > 1 && taken.runs > 1;
  const [look, sign] = two && taken.most < first.least ? ['.good', '\u25bc ']
    : two && taken.least > first.most ? ['.bad', '\u25b2 '] : ['', ''];
  const change = first && first.median > 0 && 100 * (taken.median / first.median - 1);
  return h('td.n', taken.median.toFixed(decimals(taken.median)), !isFirst && first && first.median > 0 &&
    h('span.what' + look, `${sign}${change < 0 ? '' : '+'}${fixed(change, 1, '%')}`));
}

function sidesOfTimes(parts, kind) {
  const groups = new Map();
  parts.forEach((part, side) => timesOf[kind](part.data).forEach(([group, name, taken]) => {
    if (!taken.runs) return;
    const rows = groups.get(group) || groups.set(group, new Map()).get(group);
    const sides = rows.get(name) || rows.set(name, []).get(name);
    sides[side] = taken;
  }));
  return [...groups].map(([group, rows]) => [group && h('h3', group), table(sideHeads(parts, 'ms'),
    [...rows].map(([name, sides]) => h('tr', rowHead(name),
      parts.map((part, side) => beside(sides[0], sides[side], !side)))))]);
}

// The guide's claims in the order of the lab, as a sign each.
function sidesOfLabs(parts) {
  const found = (part) => objects(Array.isArray(part.data) ? part.data : [part.data]);
  const names = new Set(parts.flatMap((part) => found(part).map((one) => str(one.lab))));
  const claims = (one) => (!one ? '-' : objects(one.remarks).map((remark) => {
    const [sign, colour] = REMARKS[kindOf(remark)];
    return ['agrees', 'differs'].includes(kindOf(remark)) &&
      [set(h('span.' + colour, sign), { title: str(remark.text) }), ' '];
  }));
  return [table(sideHeads(parts, 'lab'), [...names].map((name) => h('tr', rowHead(name),
    parts.map((part) => h('td.side', claims(found(part).find((one) => str(one.lab) === name))))))),
  small('A sign for each claim of the guide: = it holds on that GPU, \u2260 it does not.')];
}

const KINDS = {
  run: ['Runs', 'A profile is a single run, so that nothing tells what of a difference is chance: none has a ' +
    'colour. Comparisons (--profile=compare:json) have runs enough.'],
  comparison: ['Comparisons', 'Medians, and their difference from the first column. It has a colour and a sign only ' +
    'where every run of one is faster than every run of the other: \u25bc faster, \u25b2 slower.'],
  labs: ['Labs'],
  batch: ['Batches', 'Medians over the pictures, and their difference from the first column. It has a colour and a ' +
    'sign only where the middle halves of the pictures do not touch.'],
};

function sides(parts, kind) {
  const [name, note] = KINDS[kind];
  return set(h('section', h('h2', name + ' side by side'), kind === 'labs' ? sidesOfLabs(parts)
    : sidesOfTimes(parts, kind), note && small(note)), { id: 'sides-' + kind });
}

// ---- pictures ----

// The picture after lies over that before, and the range says how much of it is cut away. Two of
// different shapes stay side by side.
function pictures({ before, after }) {
  const image = (words, data) => set(h('img.' + words), { alt: 'the picture ' + words,
    src: 'data:image/jpeg;base64,' + data });
  const range = set(h('input'), { type: 'range', min: 0, max: 100, value: 50, hidden: '',
    'aria-label': 'how much of the picture is shown as it was before' });
  const images = [image('before', before), image('after', after)], box = h('div.slider', images, range);
  Promise.all(images.map((one) => one.decode())).then(() => {
    const [a, b] = images.map((one) => one.naturalWidth / one.naturalHeight);
    if (Math.abs(a / b - 1) > 0.01) return;
    box.classList.add('live');
    range.hidden = false;
    range.addEventListener('input', () => box.style.setProperty('--at', range.value + '%'));
  }, () => {});
  return [h('h3', 'The picture, before and after'), box,
    small('Made smaller, as JPEG: before at the left, after at the right.')];
}

// ---- the page ----

const bad = (why) => h('p.bad', 'This report cannot be drawn: ' + why);

// Returns what make() returns. Data of a saved file may be what nobody thought of: then a line says
// so, and the other reports are drawn.
function drawn(make) {
  try {
    return make();
  } catch (error) {
    return bad(error.message);
  }
}

function draw(parts) {
  const first = (kind) => (parts.find((part) => part.kind === kind) || {}).data;
  const all = (kind) => parts.filter((part) => part.kind === kind), page = first('page');
  const reports = parts.filter((part) => KINDS[part.kind]);
  const sound = (kind) => all(kind).filter((part) => !part.damage);
  const several = Object.keys(KINDS).filter((kind) => sound(kind).length > 1);
  const sections = {
    run: (data) => run(data, first('spans')),
    comparison: (data) => comparison(data, counted(all('counters')), first('spots') || []),
    labs: (data, id) => labs(data, id, first('plots') || {}, first('guides') || []),
    batch,
  };
  const link = (id, name) => set(h('a', name), { href: '#' + id });
  const section = (part, i) => set(h('section', part.name && h('h2', part.name),
    part.damage ? bad(part.damage)
      : drawn(() => sections[part.kind](part.data, 'report' + i))), { id: 'report' + i });
  document.title = plain(page.title);
  put(document.querySelector('header'), h('p.made', 'gpufilter ' + page.version), h('h1', page.title),
    page.line && h('p.line', page.line));
  put(document.querySelector('main'),
    reports.length > 1 && reports.every((part) => part.name) && set(h('nav', several.map((kind) =>
      link('sides-' + kind, KINDS[kind][0] + ' side by side')),
    reports.map((part, i) => link('report' + i, part.name))), { 'aria-label': 'parts of this page' }),
    several.map((kind) => drawn(() => sides(sound(kind), kind))), reports.map(section),
    all('pictures').map((part) => pictures(part.data)));
  put(document.querySelector('footer'), `Written by gpufilter ${page.version} from the figures that its tables and ` +
    'JSON hold. gpufilter --help reports explains each.');
}

// Reads a part. The program has checked a saved report, but takes a little more for JSON than
// browsers do, such as the number 01.
function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, kind, name] = text.match(/^\{"kind":"(\w+)","name":("(?:[^"\\]|\\.)*")/);
    return { kind, name: JSON.parse(name), data: {}, damage: error.message };
  }
}

draw([...document.querySelectorAll('script[type="application/json"]')].map((one) => read(one.textContent)));
