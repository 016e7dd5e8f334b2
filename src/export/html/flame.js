'use strict';
// The canvas flame graph: draws a View from a root, only what is wide enough, and answers where the pointer is.

const kRowHeight = 18;
const kLeastPixels = 0.4;

function hashOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) / 4294967296;
}

class FlameGraph {
  // upwards: the root is at the bottom
  constructor(canvas, palette, upwards = false) {
    this.canvas = canvas;
    this.upwards = upwards;
    this.palette = palette;  // (frame name, share of change or null, marked) -> colour
    this.boxes = [];         // drawn rectangles, row by row
    this.width = 0;
  }

  show(view, top, zoom, marks) {
    this.view = view;
    this.top = top;
    this.zoom = zoom && zoom.length ? zoom : [top];
    this.marks = marks;
    this.draw();
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.width = this.canvas.parentElement.clientWidth;
    const rows = this.layout(width);
    if (this.onLayout) this.onLayout(this.boxes);
    const height = this.height = Math.max(kRowHeight, rows * kRowHeight);
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const box of this.boxes) this.paint(context, box);
  }

  topOf(row) { return this.upwards ? this.height - (row + 1) * kRowHeight : row * kRowHeight; }

  nameOf(node) {
    if (node.frame === kLighter) return `${node.count} lighter functions`;
    return node.frame < 0 ? 'all' : this.view.names[node.frame];
  }

  widthOf(node) { return this.byOther ? node.otherWeight : node.weight; }

  // Rows 0..: the ancestors of the zoomed node across the whole width, the node, then its callees.
  layout(width) {
    this.boxes = [];
    const focus = this.zoom[this.zoom.length - 1];
    for (let row = 0; row < this.zoom.length; row++) this.boxes.push({node: this.zoom[row], row, x: 0, w: width, faded: row < this.zoom.length - 1});
    let deepest = this.zoom.length;
    const whole = this.widthOf(focus);
    if (whole > 0) {
      const least = kLeastPixels / width * whole;
      const stack = [[focus, this.zoom.length, 0]];
      while (stack.length) {
        const [node, row, x] = stack.pop();
        let at = x;
        let [light, lightOther, count] = [0, 0, 0];
        for (const kid of this.view.children(node, least)) {
          const kidWidth = this.widthOf(kid) / whole * width;
          if (kid.frame === kLighter || kidWidth < kLeastPixels) {
            light += kid.weight;
            lightOther += kid.otherWeight;
            count += kid.count || 1;
            continue;
          }
          this.boxes.push({node: kid, row, x: at, w: kidWidth, faded: false, parent: node});
          deepest = Math.max(deepest, row + 1);
          stack.push([kid, row + 1, at]);
          at += kidWidth;
        }
        // Behind the others, so that no gap is taken for the function's own weight.
        const rest = this.view.lighter(light, lightOther, count);
        const restWidth = this.widthOf(rest) / whole * width;
        if (restWidth >= kLeastPixels) {
          this.boxes.push({node: rest, row, x: at, w: restWidth, faded: false, parent: node});
          deepest = Math.max(deepest, row + 1);
        }
      }
    }
    this.rows = new Map();
    for (const box of this.boxes) {
      if (!this.rows.has(box.row)) this.rows.set(box.row, []);
      this.rows.get(box.row).push(box);
    }
    return deepest;
  }

  paint(context, {node, row, x, w, faded}) {
    const y = this.topOf(row);
    const name = this.nameOf(node);
    const marked = node.frame >= 0 && this.marks && this.marks[node.frame];
    context.globalAlpha = faded ? 0.55 : 1;
    context.fillStyle = this.palette(node, name, marked);
    context.fillRect(x, y, Math.max(0.4, w - 0.5), kRowHeight - 1);
    context.globalAlpha = 1;
    if (w < 28) return;
    context.fillStyle = '#16130f';
    let text = name;
    const room = w - 8;
    if (context.measureText(text).width > room) {
      let keep = Math.floor(text.length * room / context.measureText(text).width);
      while (keep > 2 && context.measureText(`${text.slice(0, keep)}…`).width > room) keep--;
      if (keep <= 2) return;
      text = `${text.slice(0, keep)}…`;
    }
    context.fillText(text, x + 4, y + kRowHeight / 2);
  }

  boxAt(x, y) {
    const row = this.rows && this.rows.get(Math.floor((this.upwards ? this.height - 1 - y : y) / kRowHeight));
    return row ? row.find((box) => x >= box.x && x < box.x + box.w) || null : null;
  }

  // The chain of nodes from the top to a box, for zooming.
  pathTo(box) {
    if (box.row < this.zoom.length) return this.zoom.slice(0, box.row + 1);
    const chain = [];
    const parents = new Map(this.boxes.filter((b) => b.parent).map((b) => [b.node, b.parent]));
    for (let node = box.node; node && node !== this.zoom[this.zoom.length - 1]; node = parents.get(node)) chain.unshift(node);
    return [...this.zoom, ...chain];
  }
}
