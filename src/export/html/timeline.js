'use strict';
// The timeline: a lane per vCPU, task, device and thread of the host, phases as bands over all; dragging selects a span.

const kLaneHeight = 18;
const kGutter = 150;
const kAxisHeight = 18;
const kPhaseHeight = 16;  // a row of names under the axis, where there are phases

const kStateColours = {running: '#4f9d5d', blocked: '#c2594b', runnable: '#d8a33a', unknown: '#9a9aa2', idle: '#8f929c48', queued: '#b9a3d6', qemu: '#7a58b8', host: '#3f7fb5'};

function niceStep(span, wanted) {
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= rough) return factor * power;
  return 10 * power;
}

// Where the axis has lines: none where times are too large for numbers to tell one line from the next.
function axisTicks(start, end, wanted) {
  const step = niceStep(end - start, wanted);
  if (!(step > 0) || start + step === start || end + step === end) return [];
  const first = Math.ceil(start / step);
  const ticks = [];
  for (let i = 0; i <= Math.floor(end / step) - first; i++) ticks.push((first + i) * step);
  return ticks;
}

class Timeline {
  constructor(canvas, model, format, onSelect) {
    this.canvas = canvas;
    this.model = model;
    this.format = format;
    this.onSelect = onSelect;  // (span in bins or null, lane or null)
    this.drag = null;
    this.top = kAxisHeight + ((model.data.phases || []).length ? kPhaseHeight : 0);
    this.activity = this.binActivity();
    canvas.addEventListener('pointerdown', (event) => this.begin(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.end(event));
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  // Weight per lane and bin, and what fills each lane's height.
  binActivity() {
    const {model} = this;
    const bins = model.data.time.bins;
    const rows = model.lanes.map(() => new Float64Array(bins));
    const byCpu = new Map();
    const byTask = new Map();
    model.lanes.forEach((lane, i) => {
      if (lane.kind === 'cpu') byCpu.set(lane.id, i);
      else if (lane.kind === 'task') byTask.set(lane.id, i);
    });
    const {bin, cpu, task, weight} = model.samples;
    for (let i = 0; i < bin.length; i++) {
      const c = byCpu.get(cpu[i]);
      if (c !== undefined) rows[c][bin[i]] += weight[i];
      const t = byTask.get(task[i]);
      if (t !== undefined) rows[t][bin[i]] += weight[i];
    }
    if (model.hostSamples) {
      const byThread = new Map();
      model.lanes.forEach((lane, i) => { if (lane.kind === 'host') byThread.set(lane.id, i); });
      const host = model.hostSamples;
      for (let i = 0; i < host.bin.length; i++) {
        const h = byThread.get(host.thread[i]);
        if (h !== undefined) rows[h][host.bin[i]] += host.weight[i];
      }
    }
    return rows.map((row) => {
      // A late sample carries the weight of its wait: the few highest bars are cut, not the others flattened.
      const sorted = row.filter((weight) => weight > 0).sort();
      return {row, most: sorted.length ? sorted[Math.floor((sorted.length - 1) * 0.98)] : 0};
    });
  }

  x(bin) { return kGutter + bin / this.model.data.time.bins * (this.width - kGutter); }
  bin(x) {
    const bins = this.model.data.time.bins;
    return Math.max(0, Math.min(bins, (x - kGutter) / (this.width - kGutter) * bins));
  }
  timeX(time) {
    const {start, end} = this.model.data.time;
    return kGutter + (time - start) / Math.max(1, end - start) * (this.width - kGutter);
  }

  draw() {
    const {model, canvas} = this;
    const ratio = window.devicePixelRatio || 1;
    this.width = canvas.parentElement.clientWidth;
    if (this.width === 0) return;  // not shown
    const height = this.top + model.lanes.length * kLaneHeight;
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--ink');
    const context = this.prepare(canvas, height, ratio);
    canvas.style.height = `${height}px`;
    // Lanes may have a quarter of a million stretches, and stay the same whatever is selected.
    const kind = `${this.width} ${height} ${ratio} ${ink}`;
    if (kind !== this.lanesKind) {
      this.lanesKind = kind;
      this.lanesPicture = this.lanesPicture || document.createElement('canvas');
      this.drawLanes(this.prepare(this.lanesPicture, height, ratio), height, style);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);  // pixel by pixel
    context.drawImage(this.lanesPicture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    model.lanes.forEach((lane, i) => this.drawName(context, lane, i, ink));
    this.drawSelection(context, height, style.getPropertyValue('--accent'));
  }

  prepare(canvas, height, ratio) {
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    return context;
  }

  drawLanes(context, height, style) {
    const line = style.getPropertyValue('--line');
    this.drawPhases(context, height);
    this.drawAxis(context, style.getPropertyValue('--quiet'), line, height);
    this.model.lanes.forEach((lane, i) => this.drawLane(context, lane, i, line));
  }

  drawPhases(context, height) {
    (this.model.data.phases || []).forEach((phase, i) => {
      const x = this.timeX(phase.from);
      context.fillStyle = i % 2 ? '#7a6fd018' : '#3a9fd018';
      context.fillRect(x, 0, Math.max(1, this.timeX(phase.until) - x), height);
    });
  }

  drawAxis(context, quiet, line, height) {
    const {start, end} = this.model.data.time;
    context.fillStyle = quiet;
    context.strokeStyle = line;
    for (const t of axisTicks(start, end, Math.max(2, (this.width - kGutter) / 110))) {
      const x = this.timeX(t);
      context.beginPath();
      context.moveTo(x + 0.5, kAxisHeight - 4);
      context.lineTo(x + 0.5, height);
      context.stroke();
      if (x < this.width - 40) context.fillText(this.format(t), x + 3, kAxisHeight / 2);
    }
    this.drawPhaseNames(context);
  }

  // Only names that have room: to the next phase's begin, and behind the name before.
  drawPhaseNames(context) {
    const phases = this.model.data.phases || [];
    let free = 0;
    phases.forEach((phase, i) => {
      const x = this.timeX(phase.from) + 3;
      const name = phase.name + (phase.complete ? '' : ' (unfinished)');
      const next = phases.slice(i + 1).find((other) => this.timeX(other.from) > x);
      const room = (next ? this.timeX(next.from) : this.width) - x;
      const width = context.measureText(name).width;
      if (x < free || (width > room && next)) return;
      context.fillText(name, x, kAxisHeight + kPhaseHeight / 2);
      free = x + width + 6;
    });
  }

  // What lies under the pointer, as lines of text; null: nothing.
  describe(x, y) {
    const {model} = this;
    if (x < kGutter) return null;
    const {start, end} = model.data.time;
    const time = start + (x - kGutter) / (this.width - kGutter) * (end - start);
    const names = [...new Set((model.data.phases || []).filter((phase) => time >= phase.from && time < phase.until).map((phase) => phase.name))];
    const phases = names.length ? `\nin ${names.join(', ')}` : '';
    const i = Math.floor((y - this.top) / kLaneHeight);
    const lane = model.lanes[i];
    if (!lane) return y < this.top ? `${this.format(time)}${phases}` : null;
    let text = `${lane.name} at ${this.format(time)}`;
    if (!lane.from) return text + phases;
    const near = (end - start) / (this.width - kGutter);  // a pixel
    let found = -1;
    for (let k = 0; k < lane.from.length && lane.from[k] <= time + near; k++)
      if (lane.until[k] >= time - near) found = k;  // drawn last, seen first
    if (found >= 0) text += `\n${model.data.state_names[lane.state[found]].name} for ${this.format(lane.until[found] - lane.from[found])}`;
    return text + this.describeRequest(lane, found) + phases;
  }

  describeRequest(lane, found) {
    if (found < 0 || !lane.request) return '';
    const {sector, count, length} = this.model.requests;
    const request = lane.request[found];
    const which = count[request] > 0 ? `${count[request]} sectors from ${sector[request]}, ` : '';
    return `\n${which}${this.format(length[request])} in all`;
  }

  drawLane(context, lane, i, line) {
    const y = this.top + i * kLaneHeight;
    context.strokeStyle = line;
    context.beginPath();
    context.moveTo(0, y + kLaneHeight - 0.5);
    context.lineTo(this.width, y + kLaneHeight - 0.5);
    context.stroke();
    if (lane.from) {
      this.drawStretches(context, lane, y);
    } else {
      const {row, most} = this.activity[i];
      const step = (this.width - kGutter) / row.length;
      context.fillStyle = lane.kind === 'cpu' ? '#d9793a' : lane.kind === 'host' ? kStateColours.host : kStateColours.running;
      for (let b = 0; most > 0 && b < row.length; b++) {
        const high = Math.min(1, row[b] / most) * (kLaneHeight - 3);
        if (high > 0) context.fillRect(this.x(b), y + kLaneHeight - 2 - high, Math.max(0.5, step), high);
      }
    }
  }

  // What lies under stretches of its own colour is not drawn again: there are far more stretches than pixels.
  drawStretches(context, lane, y) {
    let colour = '';
    let end = -1;
    for (let k = 0; k < lane.from.length; k++) {
      const wanted = kStateColours[this.model.data.state_names[lane.state[k]].kind] || kStateColours.unknown;
      const x = this.timeX(lane.from[k]);
      const right = Math.max(x + 0.5, this.timeX(lane.until[k]));
      if (wanted === colour && right <= end) continue;
      if (wanted !== colour) context.fillStyle = colour = wanted;
      end = right;
      context.fillRect(x, y + 2, right - x, kLaneHeight - 5);
    }
  }

  drawName(context, lane, i, ink) {
    const y = this.top + i * kLaneHeight;
    context.fillStyle = ink;
    context.save();
    context.beginPath();
    context.rect(0, y, kGutter - 6, kLaneHeight);
    context.clip();
    context.fillText((this.model.lane === i ? '▸ ' : '') + lane.name, 8, y + kLaneHeight / 2);
    context.restore();
  }

  drawSelection(context, height, accent) {
    const span = this.drag ? this.dragSpan() : this.model.span;
    if (!span) return;
    const [from, until] = span.map((bin) => this.x(bin));
    context.fillStyle = accent;
    context.globalAlpha = 0.16;
    context.fillRect(from, 0, until - from, height);
    context.globalAlpha = 1;
    context.fillRect(from, 0, 1, height);
    context.fillRect(until - 1, 0, 1, height);
  }

  dragSpan() {
    const bins = this.model.data.time.bins;
    const from = Math.floor(Math.min(this.drag.from, this.drag.to));
    return [from, Math.min(bins, Math.max(from + 1, Math.ceil(Math.max(this.drag.from, this.drag.to))))];
  }

  begin(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const lane = Math.floor((event.clientY - box.top - this.top) / kLaneHeight);
    if (x < kGutter) {
      // A device has no samples to be selected.
      if (lane >= 0 && lane < this.model.lanes.length && this.model.lanes[lane].kind !== 'device') this.onSelect(this.model.span, this.model.lane === lane ? null : lane);
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = {from: this.bin(x), to: this.bin(x), startX: x};
  }
  move(event) {
    if (!this.drag) return;
    this.drag.to = this.bin(event.clientX - this.canvas.getBoundingClientRect().left);
    this.draw();
  }
  end(event) {
    if (!this.drag) return;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const span = Math.abs(x - this.drag.startX) < 3 ? null : this.dragSpan();  // a click clears
    this.drag = null;
    this.onSelect(span, this.model.lane);
  }
  // Arrows move the span by its tenth, + and - widen and narrow it, Escape clears.
  key(event) {
    const bins = this.model.data.time.bins;
    let [from, until] = this.model.span || [0, bins];
    const step = Math.max(1, Math.round((until - from) / 10));
    if (event.key === 'ArrowRight') { from += step; until += step; }
    else if (event.key === 'ArrowLeft') { from -= step; until -= step; }
    else if (event.key === '+') { from += step; until -= step; }
    else if (event.key === '-') { from -= step; until += step; }
    else if (event.key !== 'Escape') return;
    event.preventDefault();
    from = Math.max(0, Math.min(bins - 1, from));
    until = Math.max(from + 1, Math.min(bins, until));
    const whole = event.key === 'Escape' || (from === 0 && until === bins);
    this.onSelect(whole ? null : [from, until], event.key === 'Escape' ? null : this.model.lane);
  }
}
