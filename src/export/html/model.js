'use strict';
// The report's data, decoded: columns of numbers and the trees over them. Nothing here touches the page.

// A column is base64 of LEB128 varints, zigzag-coded differences to the value before.
function decodeColumn(text) {
  const bytes = atob(text);
  const out = [];
  let value = 0;
  for (let i = 0; i < bytes.length;) {
    let raw = 0;
    let scale = 1;
    let byte;
    do {
      byte = bytes.charCodeAt(i++);
      raw += (byte & 0x7f) * scale;  // not shifts: values pass 2^32
      scale *= 128;
    } while (byte >= 0x80 && i < bytes.length);
    value += raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
    out.push(value);
  }
  return Float64Array.from(out);
}

// The rows whose bin lies in a span, of rows in order of their bins: [first, behind the last).
function rowsOf(bins, span) {
  if (!span) return [0, bins.length];
  const before = (value) => {
    let low = 0;
    for (let high = bins.length; low < high;) {
      const middle = (low + high) >> 1;
      if (bins[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [before(span[0]), before(span[1])];
}

// A call tree as parallel columns. Node 0 is the root; a parent stands before its children.
class Tree {
  constructor(parents, frames) {
    this.parent = Int32Array.from(parents);
    this.frame = Int32Array.from(frames);
    const count = this.count = this.parent.length;
    this.childStart = new Int32Array(count + 1);
    for (let i = 1; i < count; i++) this.childStart[this.parent[i] + 1]++;
    for (let i = 0; i < count; i++) this.childStart[i + 1] += this.childStart[i];
    const next = this.childStart.slice();
    this.child = new Int32Array(Math.max(0, count - 1));
    for (let i = 1; i < count; i++) this.child[next[this.parent[i]]++] = i;
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    this.markOutermost();
  }

  // A node is outermost if no ancestor has its frame: only those count for a function's inclusive weight.
  markOutermost() {
    this.outermost = new Uint8Array(this.count);
    const open = new Int32Array(this.frame.reduce((a, b) => Math.max(a, b), 0) + 1);
    const stack = [...this.children(0)];  // the root is no function
    while (stack.length) {
      const node = stack.pop();
      if (node < 0) {
        open[this.frame[~node]]--;
        continue;
      }
      const frame = this.frame[node];
      this.outermost[node] = open[frame]++ === 0 ? 1 : 0;
      stack.push(~node);
      for (let c = this.childStart[node]; c < this.childStart[node + 1]; c++) stack.push(this.child[c]);
    }
  }

  // Takes self weights and sums them upwards.
  weigh(self) {
    this.self = self;
    const total = this.total = Float64Array.from(self);
    for (let i = this.count - 1; i > 0; i--) total[this.parent[i]] += total[i];
  }

  children(node) { return this.child.subarray(this.childStart[node], this.childStart[node + 1]); }

  // Self and inclusive weight of every frame.
  byFrame(frameCount, weights = this.self, totals = this.total) {
    const self = new Float64Array(frameCount);
    const total = new Float64Array(frameCount);
    for (let i = 1; i < this.count; i++) {
      self[this.frame[i]] += weights[i];
      if (this.outermost[i]) total[this.frame[i]] += totals[i];
    }
    return {self, total};
  }

  // Weight of the stacks that hold a marked frame anywhere.
  matched(marks) {
    const below = new Uint8Array(this.count);
    let sum = 0;
    for (let i = 1; i < this.count; i++) {
      below[i] = below[this.parent[i]] || marks[this.frame[i]] ? 1 : 0;
      if (below[i] && !below[this.parent[i]]) sum += this.total[i];
    }
    return sum;
  }
}

const kLighter = -2;  // the frame of what is too light to be seen: `count` of them

// What a flame graph draws: nodes that make their children when they are asked, so that only what is wide enough to be seen
// is ever computed. `items` are tree nodes that were merged into this one.
class ViewNode {
  constructor(frame, items, weights, other) {
    this.frame = frame;
    this.items = items;
    this.weights = weights;  // weight of each item
    this.other = other;      // the same in the compared profile, or null
    this.weight = weights.reduce((a, b) => a + b, 0);
    this.otherWeight = other ? other.reduce((a, b) => a + b, 0) : 0;
    this.kids = null;
    this.kidsLeast = 0;  // lighter ones were left out
  }
}

// The views share one shape: `children(node, least)` in drawing order, computed once. Frames lighter than `least`, which would not be
// seen, are left out: that there are a million of them must not be felt.
class View {
  // compared: {self, total} of the other profile per node, or null
  constructor(tree, names, compared) {
    this.tree = tree;
    this.names = names;
    this.compared = compared;
    this.sums = new Float64Array(names.length);  // by frame: all 0 between two uses
  }
  // Children by frame: `each` calls its argument with (frame, tree node, weight, other weight) for each that there is.
  grouped(each, least) {
    const {sums} = this;
    const seen = [];
    each((frame, item, weight, other) => {
      if (sums[frame] === 0) seen.push(frame);
      sums[frame] += Math.max(weight, other);
    });
    const groups = new Map();
    for (const frame of seen) if (sums[frame] > 0 && sums[frame] >= least) groups.set(frame, {items: [], weights: [], other: []});
    for (const frame of seen) sums[frame] = 0;
    let [light, lightOther] = [0, 0];
    each((frame, item, weight, other) => {
      const group = groups.get(frame);
      if (!group) { light += weight; lightOther += other; return; }
      group.items.push(item);
      group.weights.push(weight);
      group.other.push(other);
    });
    const nodes = [...groups].map(([frame, g]) => new ViewNode(frame, g.items, g.weights, this.compared ? g.other : null));
    if (light > 0 || lightOther > 0) nodes.push(this.lighter(light, lightOther, seen.length - groups.size));
    return nodes;
  }
  lighter(weight, other, count) {
    const node = new ViewNode(kLighter, [], [weight], this.compared ? [other] : null);
    node.kids = [];
    node.count = count;
    return node;
  }
  children(node, least) {
    if (node.kids && node.kidsLeast <= least) return node.kids;
    const {names} = this;
    node.kidsLeast = least;
    node.kids = this.grouped((use) => this.each(node, use), least);
    node.kids.sort((a, b) => (names[a.frame] < names[b.frame] ? -1 : names[a.frame] > names[b.frame] ? 1 : 0));
    return node.kids;
  }
  // All places of one function, merged; recursion counts once.
  rootAt(frame) {
    const items = [];
    for (let i = 1; i < this.tree.count; i++) if (this.tree.frame[i] === frame && this.tree.outermost[i]) items.push(i);
    return new ViewNode(frame, items, items.map((i) => this.tree.total[i]),
      this.compared ? items.map((i) => this.compared.total[i]) : null);
  }
}

class CalleeView extends View {
  each(node, use) {
    const {frame, total, child, childStart} = this.tree;
    for (const item of node.items) {
      for (let c = childStart[item]; c < childStart[item + 1]; c++) {
        const kid = child[c];
        use(frame[kid], kid, total[kid], this.compared ? this.compared.total[kid] : 0);
      }
    }
  }
  root() { return new ViewNode(-1, [0], [this.tree.total[0]], this.compared ? [this.compared.total[0]] : null); }
}

class CallerView extends View {
  each(node, use) {
    const {frame, parent} = this.tree;
    for (let k = 0; k < node.items.length; k++) {
      const caller = parent[node.items[k]];
      if (caller > 0) use(frame[caller], caller, node.weights[k], node.other ? node.other[k] : 0);
    }
  }
  // Leaves first: what burns, and below each who called it.
  root() {
    const {self, total, frame, count} = this.tree;
    const compared = this.compared;
    const node = new ViewNode(-1, [], [total[0]], compared ? [compared.total[0]] : null);
    node.kids = this.grouped((use) => {
      for (let i = 1; i < count; i++) {
        const other = compared ? compared.self[i] : 0;
        if (self[i] > 0 || other > 0) use(frame[i], i, self[i], other);
      }
    }, 0);
    node.kids.sort((a, b) => b.weight - a.weight);
    return node;
  }
}

// Everything the page knows, from the JSON in the file (docs/html-report.md).
class Model {
  constructor(data) {
    this.data = data;
    this.names = data.frames.names;
    this.places = data.frames.places;
    this.tree = new Tree(decodeColumn(data.tree.parents), decodeColumn(data.tree.frames));
    this.span = null;   // [from, until) in bins, or null for all
    this.lane = null;   // index of a vCPU or task lane, or null for all
    const s = data.samples;
    this.samples = {bin: decodeColumn(s.bins), node: decodeColumn(s.nodes), cpu: decodeColumn(s.cpus), task: decodeColumn(s.tasks), weight: decodeColumn(s.weights)};
    if (data.base) {
      const base = new Float64Array(this.tree.count);
      base.set(decodeColumn(data.base.weights));
      this.baseSelf = base;
      this.baseTotal = Float64Array.from(base);
      for (let i = this.tree.count - 1; i > 0; i--) this.baseTotal[this.tree.parent[i]] += this.baseTotal[i];
    }
    if (data.off) {
      this.offTree = new Tree(decodeColumn(data.off.parents), decodeColumn(data.off.frames));
      const off = data.off.samples;
      this.offSamples = {from: decodeColumn(off.from_ns), until: decodeColumn(off.until_ns), node: decodeColumn(off.nodes), task: decodeColumn(off.tasks)};
    }
    if (data.host) {
      this.hostTree = new Tree(decodeColumn(data.host.parents), decodeColumn(data.host.frames));
      const host = data.host.samples;
      this.hostSamples = {bin: decodeColumn(host.bins), node: decodeColumn(host.nodes), thread: decodeColumn(host.threads), weight: decodeColumn(host.weights)};
    }
    this.lanes = this.allLanes().map((lane) => ({...lane, from: lane.from_ns ? decodeColumn(lane.from_ns) : null,
      until: lane.until_ns ? decodeColumn(lane.until_ns) : null, state: lane.states ? decodeColumn(lane.states) : null,
      request: lane.requests ? decodeColumn(lane.requests) : null}));
    if (data.devices && data.devices.requests) {
      const r = data.devices.requests;
      this.requests = {sector: decodeColumn(r.sectors), count: decodeColumn(r.sector_counts), length: decodeColumn(r.lengths_ns)};
    }
    this.select(null, null);
  }

  // In drawing order: vCPUs, below them the devices and the host's threads, then tasks.
  allLanes() {
    const {lanes = [], devices, host} = this.data;
    const tasks = lanes.findIndex((lane) => lane.kind === 'task');
    const below = tasks < 0 ? lanes.length : tasks;
    const ofDevices = devices ? devices.lanes.map((lane) => ({...lane, kind: 'device'})) : [];
    const ofHost = host ? host.lanes.map((lane) => ({...lane, kind: 'host'})) : [];
    return [...lanes.slice(0, below), ...ofDevices, ...ofHost, ...lanes.slice(below)];
  }

  // Narrows every tree to a span of time and a lane: a thread of the host narrows the host's tree, any other lane the guest's.
  select(span, lane) {
    this.span = span;
    this.lane = lane;
    const wanted = lane === null ? null : this.lanes[lane];
    if (this.hostTree) this.selectHost(span, wanted && wanted.kind === 'host' ? wanted.id : null);
    const {bin, node, cpu, task, weight} = this.samples;
    const self = new Float64Array(this.tree.count);
    const [first, end] = rowsOf(bin, span);
    const want = wanted && wanted.kind !== 'host' ? wanted : null;
    for (let i = first; i < end; i++) {
      if (want && (want.kind === 'cpu' ? cpu[i] : task[i]) !== want.id) continue;
      self[node[i]] += weight[i];
    }
    this.tree.weigh(self);
    if (!this.offTree) return;
    const off = new Float64Array(this.offTree.count);
    const lo = span ? this.binTime(span[0]) : -Infinity;
    const hi = span ? this.binTime(span[1]) : Infinity;
    const o = this.offSamples;
    for (let i = 0; i < o.node.length; i++) {
      if (want && (want.kind !== 'task' || o.task[i] !== want.id)) continue;
      const overlap = Math.min(hi, o.until[i]) - Math.max(lo, o.from[i]);
      if (overlap > 0) off[o.node[i]] += overlap;
    }
    this.offTree.weigh(off);
  }

  selectHost(span, wanted) {
    const {bin, node, thread, weight} = this.hostSamples;
    const self = new Float64Array(this.hostTree.count);
    const [first, end] = rowsOf(bin, span);
    for (let i = first; i < end; i++) if (wanted === null || thread[i] === wanted) self[node[i]] += weight[i];
    this.hostTree.weigh(self);
  }

  binTime(bin) { return this.data.time.start + bin * (this.data.time.end - this.data.time.start) / this.data.time.bins; }
}
