'use strict';
// What the page does beyond showing itself: it zooms timelines and moves sliders. Without this
// script every figure is there all the same.

// A timeline shows the part from..to of its whole width, both 0..1.
function zoomable(box) {
  const svg = box.querySelector('svg'), ticks = box.querySelectorAll('.axis span');
  const whole = svg.viewBox.baseVal.width, total = Number(box.dataset.ms);
  let from = 0, to = 1;
  function show(a, b) {
    const width = Math.min(1, Math.max(b - a, 1e-4));
    from = Math.min(Math.max(0, a), 1 - width);
    to = from + width;
    svg.viewBox.baseVal.x = from * whole;
    svg.viewBox.baseVal.width = width * whole;
    const digits = Math.max(0, Math.ceil(1 - Math.log10(width * total)));
    ticks.forEach((tick, i) => {
      const ms = (from + width * i / (ticks.length - 1)) * total;
      tick.textContent = ms.toFixed(digits) + ' ms';
    });
  }
  function zoom(factor, at) {
    const middle = from + (to - from) * at, width = (to - from) * factor;
    show(middle - width * at, middle + width * (1 - at));
  }
  const place = (event) => {
    const edge = svg.getBoundingClientRect();
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
  const buttons = box.parentElement.querySelector('.zoom');
  buttons.hidden = false;
  buttons.querySelectorAll('button').forEach((button) => {
    button.addEventListener('click', () => keys[button.value]());
  });
}

// The picture after lies over that before, and the range says how much of it is cut away. Two of
// different shapes stay side by side.
function slidable(box) {
  const [before, after] = box.querySelectorAll('img'), range = box.querySelector('input');
  function show() {
    const shape = (image) => image.naturalWidth / image.naturalHeight;
    if (Math.abs(shape(before) / shape(after) - 1) > 0.01) return;
    box.classList.add('live');
    range.hidden = false;
    range.addEventListener('input', () => box.style.setProperty('--at', range.value + '%'));
  }
  Promise.all([before.decode(), after.decode()]).then(show, () => {});
}

document.querySelectorAll('.lanes').forEach(zoomable);
document.querySelectorAll('.slider').forEach(slidable);
