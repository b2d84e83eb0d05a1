'use strict';
// Draws a page as a browser would, with as much of a document as page.js needs, and prints the elements that it made:
//     node tests/page.js PAGE
const fs = require('fs');
const vm = require('vm');

const escape = (text) => text.replace(/[&<>"']/g, (sign) =>
  ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign]);

class Element {
  constructor(name) {
    Object.assign(this, { name, attributes: new Map(), children: [], handlers: {}, dataset: {}, drawn: [] });
    this.classList = { add() {}, remove() {} };
    this.style = { setProperty() {} };
  }

  setAttribute(name, value) {
    if (/^on/.test(name) || typeof value !== 'string') throw new Error(`${this.name}: ${name}=${value}`);
    this.attributes.set(name, value);
    if (name.startsWith('data-')) this.dataset[name.slice(5)] = value;
    if (name === 'value') this.value = value;
  }

  append(...children) { this.children.push(...children.map((one) => (one instanceof Element ? one : String(one)))); }

  set textContent(text) { this.children = [String(text)]; }

  addEventListener(event, handler) { this.handlers[event] = handler; }

  get viewBox() {
    if (!this.box) {
      const [x, y, width, height] = this.attributes.get('viewBox').split(' ').map(Number);
      this.box = { baseVal: { x, y, width, height } };
    }
    return this.box;
  }

  getContext() { return { fillRect: (x, y) => this.drawn.push(`${x},${y}`) }; }

  decode() { return Promise.reject(new Error('no pictures here')); }

  // Only what page.js asks for: ".axis span".
  querySelectorAll(what) {
    const [holder, name] = what.split(' ');
    const all = (element) => element.children.filter((one) => one instanceof Element).flatMap((one) => [one, ...all(one)]);
    return all(this).filter((one) => '.' + one.attributes.get('class') === holder)
      .flatMap((one) => all(one).filter((inner) => inner.name === name));
  }

  toString() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${escape(value)}"`).join('');
    const inside = this.children.map((one) => (one instanceof Element ? String(one) : escape(one))).join('');
    const open = `<${this.name}${attributes}>`;
    if (['img', 'input'].includes(this.name)) return open;
    return `${open}${inside}</${this.name}>` + (/^(tr|h[123]|p|table|section|svg|figure|li|rect|dl)$/.test(this.name) ? '\n' : '');
  }
}

const html = fs.readFileSync(process.argv[2], 'utf8');
const scripts = [...html.matchAll(/<script( type="application\/json")?>([^]*?)<\/script>/g)];
const places = { header: new Element('header'), main: new Element('main'), footer: new Element('footer') };
const document = {
  createElement: (name) => new Element(name),
  createElementNS: (space, name) => new Element(name),
  querySelector: (name) => places[name],
  querySelectorAll: (what) => {
    if (what !== 'script[type="application/json"]') throw new Error(what);
    return scripts.filter((one) => one[1]).map((one) => ({ textContent: one[2] }));
  },
};
for (const [, data, text] of scripts) if (!data) vm.runInNewContext(text, { document, console });
console.log(`<title>${escape(document.title)}</title>`);
for (const place of Object.values(places)) console.log(String(place));
