'use strict';
// The page: tabs, search, zoom, sandwich, table; every view follows the timeline's selection.

(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const model = new Model(data);
  const by = (id) => document.getElementById(id);
  const element = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;  // never markup: names come from the guest
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const state = {tab: 'flame', zoom: null, inverted: false, sandwich: null, marks: null, pattern: null, sort: ['self', -1], vanished: false};

  function duration(ns) {
    if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
    if (ns >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
    if (ns >= 1e3) return `${(ns / 1e3).toFixed(1)} µs`;
    return `${Math.round(ns)} ns`;
  }
  const amount = (weight, tab) => {
    if (tab === 'off') return duration(weight);
    if (tab === 'host') return `${Math.round(weight).toLocaleString('en')} host samples`;
    const count = `${Math.round(weight).toLocaleString('en')} ${data.unit.name}`;
    if (data.unit.insns_per_weight) return `${count} (${Math.round(weight * data.unit.insns_per_weight).toLocaleString('en')} instructions)`;
    return data.unit.ns_per_weight ? `${count} (${duration(weight * data.unit.ns_per_weight)})` : count;
  };
  const percent = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(2)} %` : '–');
  const axis = data.time.unit === 'ns' ? duration : (value) => `sample ${Math.round(value).toLocaleString('en')}`;
  const place = (frame) => model.places[frame] || '';

  const tree = () => ({off: model.offTree, host: model.hostTree}[state.tab] || model.tree);

  // Warm hues by name, so that a function keeps its colour; differences from blue (less) to red (more).
  function palette(node, name, marked) {
    if (marked) return '#d65fe0';
    if (node.frame < 0) return '#c9c4b8';
    if (state.tab === 'diff') {
      const {difference, counts} = changeOf(node.weight, node.otherWeight);
      if (!counts) return '#e3dfd6';
      const strength = Math.abs(difference) / mostChange;
      return difference > 0 ? mixed([250, 206, 190], [222, 66, 46], strength) : mixed([200, 217, 246], [64, 112, 214], strength);
    }
    const hash = hashOf(name);
    if (state.tab === 'host') return `hsl(${150 + 40 * hash} 34% ${62 + 8 * hash}%)`;
    return state.tab === 'off' ? `hsl(${195 + 50 * hash} 45% ${64 + 8 * hash}%)` : `hsl(${18 + 36 * hash} 78% ${62 + 8 * hash}%)`;
  }
  const mixed = (from, to, part) => `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * part)).join(' ')})`;

  // Shares of both sides; their difference counts beyond what sampling alone makes them differ by, as in `qperf diff`.
  const wholeWeight = model.tree.total[0];  // of everything, before any selection
  function changeOf(weight, before) {
    const whole = model.tree.total[0];
    const now = whole > 0 ? weight / whole : 0;
    const was = model.baseTotal[0] > 0 ? before / model.baseTotal[0] : 0;
    const {samples, samples_of_now: all} = data.base;
    const samplesNow = wholeWeight > 0 ? all * whole / wholeWeight : 0;
    let noise = 0;
    if (samples > 0 || all > 0) {
      const pooled = (now * samplesNow + was * samples) / (samplesNow + samples);
      noise = samples > 0 && samplesNow > 0
        ? 3 * Math.sqrt(Math.max(0, pooled * (1 - pooled) * (1 / samples + 1 / samplesNow))) + 1 / Math.min(samples, samplesNow) : 1;
    }
    const difference = now - was;
    return {now, was, difference, counts: Math.abs(difference) > Math.max(noise, 1e-9)};
  }
  const points = (difference) => `${difference > 0 ? '+' : ''}${(100 * difference).toFixed(2)}`;
  let mostChange = 1;  // the largest that is drawn

  const flame = new FlameGraph(by('flame'), palette);
  const callers = new FlameGraph(by('callers'), palette, true);  // of the function that both are about, above its callees
  const graphs = [flame, callers];
  for (const graph of graphs) {
    graph.onLayout = (boxes) => {
      if (state.tab !== 'diff') return;
      for (const {node} of boxes) {
        const {difference, counts} = changeOf(node.weight, node.otherWeight);
        if (counts) mostChange = Math.max(mostChange, Math.abs(difference));
      }
    };
  }
  const timeline = model.lanes.length ? new Timeline(by('timeline'), model, axis, (span, lane) => {
    const before = model.lane;
    model.select(span, lane);
    if (lane !== before && lane !== null && model.lanes[lane].kind === 'host' && state.tab !== 'host') {
      state.tab = 'host';
      state.sandwich = null;
    }
    refresh();
  }) : null;
  by('timeline-panel').hidden = !timeline;

  function drawGraphs() {
    const compared = state.tab === 'diff' ? {self: model.baseSelf, total: model.baseTotal} : null;
    const sandwich = state.sandwich !== null;
    const draw = (graph, Kind) => {
      const view = new Kind(tree(), model.names, compared);
      graph.byOther = state.tab === 'diff' && state.vanished;
      graph.show(view, sandwich ? view.rootAt(state.sandwich) : view.root(), null, state.marks);
    };
    mostChange = 0;
    by('callers').hidden = !sandwich;
    if (sandwich) draw(callers, CallerView);
    draw(flame, state.inverted && !sandwich ? CallerView : CalleeView);
    if (!sandwich) return;
    if (state.tab === 'diff') callers.draw();  // once more: colours by the largest change of both
    const scrolled = by('flame-panel').parentElement;
    scrolled.scrollTop = Math.max(0, callers.height - scrolled.clientHeight / 2);  // the function is in sight
  }

  function refresh() {
    state.zoom = null;
    render();
  }

  function render() {
    const graph = ['flame', 'off', 'host', 'diff'].includes(state.tab);
    by('flame-panel').hidden = !graph;
    by('table-panel').hidden = state.tab !== 'table';
    by('about-panel').hidden = state.tab !== 'about';
    for (const button of by('tabs').children) button.setAttribute('aria-selected', button.dataset.tab === state.tab);
    renderControls(graph);
    if (graph) drawGraphs();
    if (state.tab === 'table') renderTable();
    if (timeline) timeline.draw();
    renderSelection();
    renderSearchShare();
  }

  function control(label, pressed, act, hint) {
    const button = element('button', label, {title: hint || label});
    if (pressed !== null) button.setAttribute('aria-pressed', pressed);
    button.addEventListener('click', act);
    by('controls').append(button);
  }

  function renderControls(graph) {
    by('controls').replaceChildren();
    by('controls').hidden = !graph;
    if (!graph) return;
    control('Reset zoom', null, () => refresh(), 'Escape');
    if (state.sandwich === null) {
      control('Callees', !state.inverted, () => { state.inverted = false; refresh(); }, 'from callers down to callees');
      control('Callers', state.inverted, () => { state.inverted = true; refresh(); }, 'i: from each function up to its callers');
    }
    if (state.tab === 'diff') {
      control('Vanished', state.vanished, () => { state.vanished = !state.vanished; refresh(); }, 'widths of the profile before: shows what is gone');
      by('controls').append(element('span', `widths: ${state.vanished ? 'before' : 'now'}; red grew and blue shrank since ${data.base.name}, by share; `
        + 'grey: no change beyond the noise', {class: 'where'}));
    }
    if (state.sandwich !== null) {
      control('Leave function', null, () => { state.sandwich = null; refresh(); }, 'back to all stacks');
      by('controls').append(element('span', `only stacks through ${model.names[state.sandwich]}: its callers above, its callees below`, {class: 'where'}));
    }
  }

  function renderSelection() {
    const parts = [];
    if (model.span) {
      const from = model.binTime(model.span[0]);
      const until = model.binTime(model.span[1]);
      parts.push(`${axis(from)} to ${axis(until)}`);
    }
    const lane = model.lane === null ? null : model.lanes[model.lane];
    if (lane) parts.push(lane.name);
    let shown = state.tab === 'host' ? amount(model.hostTree.total[0], 'host') : amount(model.tree.total[0]);
    if (lane && (lane.kind === 'host') !== (state.tab === 'host')) shown += state.tab === 'host' ? ' of all its threads' : ' of the whole guest';
    by('selected').textContent = parts.length
      ? `selected: ${parts.join(', ')}; ${shown} (click clears the span, the lane's name the lane)`
      : `all: ${shown}; drag to select a span, click a lane's name to select the lane`;
  }

  function renderSearchShare() {
    const output = by('search-share');
    if (!state.marks) { output.textContent = ''; return; }
    const sum = tree().matched(state.marks);
    output.textContent = `${percent(sum, tree().total[0])} matched`;
  }

  function search() {
    const text = by('search').value;
    by('search').removeAttribute('aria-invalid');
    state.marks = null;
    if (text) {
      try {
        const pattern = new RegExp(text, 'i');
        state.marks = model.names.map((name) => pattern.test(name));
      } catch {
        by('search').setAttribute('aria-invalid', 'true');
      }
    }
    for (const graph of graphs) {
      graph.marks = state.marks;
      if (!by('flame-panel').hidden && !graph.canvas.hidden) graph.draw();
    }
    if (state.tab === 'table') renderTable();
    renderSearchShare();
  }

  const kColumns = [['self', 'Self'], ['selfShare', 'Self %'], ['total', 'Inclusive'], ['totalShare', 'Inclusive %'], ['name', 'Function']];
  const kMostRows = 500;

  function renderTable() {
    const head = element('tr');
    const columns = model.baseTotal ? [...kColumns.slice(0, 4), ['selfChange', 'Self change'], ['totalChange', 'Incl. change'], kColumns[4]] : kColumns;
    for (const [key, title] of columns) {
      const cell = element('th', title + (state.sort[0] === key ? (state.sort[1] < 0 ? ' ▾' : ' ▴') : ''), {tabindex: '0', scope: 'col'});
      const sort = () => {
        state.sort = [key, state.sort[0] === key ? -state.sort[1] : key === 'name' ? 1 : -1];
        renderTable();
      };
      cell.addEventListener('click', sort);
      cell.addEventListener('keydown', (event) => { if (event.key === 'Enter') sort(); });
      head.append(cell);
    }
    by('table').tHead.replaceChildren(head);
    const {self, total} = model.tree.byFrame(model.names.length);
    const before = model.baseTotal ? model.tree.byFrame(model.names.length, model.baseSelf, model.baseTotal) : null;
    const whole = model.tree.total[0];
    let rows = model.names.map((name, frame) => ({frame, name, self: self[frame], selfShare: self[frame], total: total[frame],
      totalShare: total[frame], selfChange: before ? changeOf(self[frame], before.self[frame]).difference : 0,
      totalChange: before ? changeOf(total[frame], before.total[frame]).difference : 0, before: before ? before.total[frame] : 0}));
    rows = rows.filter((row) => (row.total > 0 || row.before > 0) && (!state.marks || state.marks[row.frame]));
    const [key, direction] = state.sort;
    rows.sort((a, b) => (a[key] < b[key] ? -direction : a[key] > b[key] ? direction : a.name < b.name ? -1 : 1));
    const body = rows.slice(0, kMostRows).map((row) => {
      const line = element('tr', undefined, state.marks ? {class: 'match'} : {});
      line.append(element('td', Math.round(row.self).toLocaleString('en')), element('td', percent(row.self, whole)),
        element('td', Math.round(row.total).toLocaleString('en')), element('td', percent(row.total, whole)));
      if (before) line.append(element('td', points(row.selfChange)), element('td', points(row.totalChange)));
      const cell = element('td', row.name, {title: place(row.frame)});
      cell.addEventListener('click', () => { state.sandwich = row.frame; state.tab = 'flame'; refresh(); });
      line.append(cell);
      return line;
    });
    if (rows.length > kMostRows) {
      const line = element('tr');
      line.append(element('td', `${rows.length - kMostRows} more rows: search narrows the table`, {colspan: String(columns.length)}));
      body.push(line);
    }
    by('table').tBodies[0].replaceChildren(...body);
  }

  function describe(graph, node) {
    const whole = tree().total[0];
    const focus = graph.zoom[graph.zoom.length - 1].weight;
    const name = graph.nameOf(node);
    let text = `${name}\n${amount(node.weight, state.tab)}: ${percent(node.weight, whole)} of all`;
    if (graph.zoom.length > 1) text += `, ${percent(node.weight, focus)} of the zoom`;
    if (state.tab === 'diff') {
      const {difference, counts} = changeOf(node.weight, node.otherWeight);
      text += `\nbefore: ${percent(node.otherWeight, model.baseTotal[0])}, now: ${percent(node.weight, whole)}: `
        + (counts ? `${points(difference)} points${node.weight === 0 ? ', gone' : node.otherWeight === 0 ? ', new' : ''}` : 'no change beyond the noise');
    }
    if (node.frame >= 0 && place(node.frame)) text += `\n${place(node.frame)}`;
    return text;
  }

  function showTip(event, text) {
    const tip = by('tip');
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    by('status').textContent = text.replaceAll('\n', '   ');
    tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(0, Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8))}px`;
  }
  let clicked = null;  // by the first click of two: the second may meet another box, since the first zooms
  for (const graph of graphs) {
    graph.canvas.addEventListener('pointermove', (event) => {
      const box = graph.boxAt(event.offsetX, event.offsetY);
      showTip(event, box && describe(graph, box.node));
    });
    graph.canvas.addEventListener('click', (event) => {
      if (event.detail > 1) return;
      const box = graph.boxAt(event.offsetX, event.offsetY);
      clicked = box && box.node;
      if (!box || box.node.frame === kLighter) return;
      if (event.altKey && box.node.frame >= 0) { state.sandwich = box.node.frame; refresh(); return; }
      graph.show(graph.view, graph.top, graph.pathTo(box), state.marks);
      by('tip').hidden = true;
    });
    graph.canvas.addEventListener('dblclick', () => {
      if (clicked && clicked.frame >= 0) { state.sandwich = clicked.frame; refresh(); }
    });
  }
  by('timeline').addEventListener('pointermove', (event) => showTip(event, timeline && timeline.describe(event.offsetX, event.offsetY)));
  for (const canvas of ['flame', 'callers', 'timeline']) by(canvas).addEventListener('pointerleave', () => { by('tip').hidden = true; });

  by('search').addEventListener('input', search);
  by('theme').addEventListener('click', () => {
    const dark = document.documentElement.dataset.theme === 'dark';
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    render();
  });
  document.addEventListener('keydown', (event) => {
    if (event.target === by('search')) { if (event.key === 'Escape') { by('search').value = ''; search(); by('search').blur(); } return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tabs = [...by('tabs').children];
    if (event.key === '/') { event.preventDefault(); by('search').focus(); }
    else if (event.key === 'Escape' && event.target !== by('timeline')) { state.sandwich = null; refresh(); }
    else if (event.key === 'i' && state.sandwich === null) { state.inverted = !state.inverted; refresh(); }
    else if (event.key >= '1' && event.key <= String(tabs.length)) tabs[Number(event.key) - 1].click();
  });
  window.addEventListener('resize', () => render());

  // Where all ticks went, of which the stacks are the kernel's.
  function buckets() {
    const whole = data.buckets.reduce((sum, bucket) => sum + bucket.weight, 0);
    by('buckets').hidden = whole === 0;
    const kinds = new Set(['kernel', 'user', 'idle', 'lost']);
    for (const {name, weight} of data.buckets) {
      const text = `${name} ${percent(weight, whole)}`;
      const part = element('span', text, {class: kinds.has(name) ? name : 'other', title: `${text}: ${weight.toLocaleString('en')} ticks of all vCPUs, whole capture`});
      part.style.flexGrow = weight / whole;
      part.style.flexBasis = '0';
      by('buckets').append(part);
    }
  }

  function about() {
    const table = element('table');
    for (const [key, value] of [...data.about, ...data.left_out.map((text) => ['not shown', text])]) {
      const row = element('tr');
      row.append(element('th', key, {scope: 'row'}), element('td', value));
      table.append(row);
    }
    by('about-panel').append(table, element('p', 'Keys: / search, i callers or callees, 1 to 6 tabs, Escape resets; in the timeline arrows move the span, + and - size it. Click zooms, double click or Alt+click shows all stacks through a function.'));
  }

  by('title').textContent = data.title;
  for (const warning of data.warnings) by('warnings').append(element('li', warning));
  const tabs = [['flame', 'Flame graph'], ['table', 'Functions']];
  if (model.offTree) tabs.push(['off', 'Off-CPU']);
  if (model.hostTree) tabs.push(['host', 'Host']);
  if (model.baseTotal) tabs.push(['diff', 'Difference']);
  tabs.push(['about', 'About']);
  for (const [tab, label] of tabs) {
    const button = element('button', label, {role: 'tab', 'data-tab': tab});
    button.addEventListener('click', () => { state.tab = tab; state.sandwich = null; refresh(); });
    by('tabs').append(button);
  }
  document.documentElement.dataset.theme = window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  about();
  buckets();
  by('legend').hidden = !model.lanes.some((lane) => lane.from);
  by('device-legend').hidden = !model.lanes.some((lane) => lane.kind === 'device');
  refresh();
})();
