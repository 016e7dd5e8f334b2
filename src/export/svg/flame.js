'use strict';
// Zoom and search in a flame graph whose frames are in the markup, callers before callees.
(() => {
  const svg = document.currentScript.ownerSVGElement;
  const part = (name) => svg.querySelector(`.${name}`);
  const area = part('frames').dataset;
  const [left, width, column] = [Number(area.left), Number(area.width), Number(area.column)];
  const frames = [...svg.querySelectorAll('.frame')].map((group) => {
    const words = group.querySelector('title').textContent;
    return {
      group, words, rect: group.querySelector('rect'), text: group.querySelector('text'), name: words.split('\n')[0],
      depth: Number(group.dataset.depth), from: Number(group.dataset.from), weight: Number(group.dataset.weight),
    };
  });
  let focus = 0;       // index of the frame that is as wide as the picture
  let pattern = null;
  const percent = (some, whole) => (whole > 0 ? `${(100 * some / whole).toFixed(2)} %` : '-');

  // The frames that a frame called stand right behind it.
  function endOf(index) {
    let end = index + 1;
    while (end < frames.length && frames[end].depth > frames[index].depth) end++;
    return end;
  }

  // What fits into a box; the same rule as that of the picture's writer.
  function label(name, pixels) {
    const columns = Math.floor((pixels - 6) / column);
    if (columns < 3) return '';
    let used = 0;
    let fits = '';
    for (const character of name) {
      const wide = character.codePointAt(0) >= 0x3000 ? 2 : 1;
      if (used + wide > columns) {
        const kept = [...fits];
        while (kept.length && used >= columns) used -= kept.pop().codePointAt(0) >= 0x3000 ? 2 : 1;
        return `${kept.join('')}…`;
      }
      used += wide;
      fits += character;
    }
    return fits;
  }

  function put(frame, x, pixels, above) {
    frame.group.classList.remove('away');
    frame.group.classList.toggle('above', above);
    frame.rect.setAttribute('x', x);
    frame.rect.setAttribute('width', Math.max(0.05, pixels - 0.5));
    const words = label(frame.name, pixels);
    if (words && !frame.text) {
      frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      frame.text.setAttribute('y', Number(frame.rect.getAttribute('y')) + 11.5);
      frame.group.append(frame.text);
    }
    if (!frame.text) return;
    frame.text.setAttribute('x', x + 3);
    frame.text.textContent = words;
  }

  function zoom(index) {
    focus = index;
    const {from, weight, depth} = frames[index];
    const end = endOf(index);
    let above = depth;
    for (let i = frames.length - 1; i >= 0; i--) {
      const frame = frames[i];
      if (i >= index && i < end) {
        put(frame, left + (weight > 0 ? (frame.from - from) / weight : 0) * width, (weight > 0 ? frame.weight / weight : 1) * width, false);
      } else if (i < index && frame.depth < above) {
        above = frame.depth;
        put(frame, left, width, true);
      } else {
        frame.group.classList.add('away');
      }
    }
    part('reset').setAttribute('visibility', index === 0 ? 'hidden' : 'visible');
    tellMatches();
  }

  // The weight of stacks with a match: a match inside another counts once.
  function matched(index) {
    const end = endOf(index);
    let sum = 0;
    for (let i = index; i < end;) {
      if (!frames[i].group.classList.contains('match')) {
        i++;
        continue;
      }
      sum += frames[i].weight;
      i = endOf(i);
    }
    return sum;
  }

  function tellMatches() {
    let words = '';
    if (pattern) {
      words = `matched: ${percent(matched(0), frames[0].weight)}`;
      if (focus !== 0) words += ` of all, ${percent(matched(focus), frames[focus].weight)} of the zoom below it`;
    }
    part('matched').textContent = words;
    part('search').textContent = pattern ? 'Clear search' : 'Search';
  }

  function search(typed) {
    pattern = null;
    try {
      if (typed) pattern = new RegExp(typed, 'i');
    } catch {
      tellMatches();
      part('matched').textContent = `no regular expression: ${typed}`;
      return;
    }
    frames.forEach((frame, i) => frame.group.classList.toggle('match', i !== 0 && pattern !== null && pattern.test(frame.name)));
    tellMatches();
  }

  const ask = () => search(window.prompt('Search functions by regular expression', '') || '');

  const indexOf = new Map(frames.map((frame, i) => [frame.group, i]));
  const pointedAt = (event) => indexOf.get(event.target.closest('.frame'));
  svg.addEventListener('click', (event) => {
    const index = pointedAt(event);
    if (index !== undefined) zoom(index);
  });
  svg.addEventListener('mouseover', (event) => {
    const index = pointedAt(event);
    let words = index === undefined ? '' : frames[index].words.split('\n').join(' · ');
    if (words && focus !== 0) words += ` · ${percent(frames[index].weight, frames[focus].weight)} of the zoom`;
    part('pointed').textContent = words;
  });
  part('search').addEventListener('click', () => (pattern ? search('') : ask()));
  part('reset').addEventListener('click', () => zoom(0));
  document.addEventListener('keydown', (event) => {
    const find = event.key === '/' || (event.key === 'f' && (event.ctrlKey || event.metaKey));
    if (find) {
      event.preventDefault();
      ask();
    } else if (event.key === 'Escape') {
      search('');
      zoom(0);
    }
  });
  part('search').setAttribute('visibility', 'visible');
})();
