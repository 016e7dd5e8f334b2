// html_page.mjs PAGE: how long an HTML report takes in a browser, in milliseconds: to open, and for what a person does with it. Each
// action is timed five times in the page, from the call to the end of drawing; medians and the longest are printed. Goal: a million
// tree nodes stay smooth: below 100 ms, which is felt as at once. Run it in the folder where the viewers' tests have put
// their modules (build/*/tests/viewers.modules).
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {createRequire} from 'node:module';

const {chromium} = createRequire(resolve('package.json'))('playwright-core');
const [file] = process.argv.slice(2);
if (!file) throw new Error('usage: html_page.mjs PAGE');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
const page = await browser.newPage({viewport: {width: 1400, height: 900}});
const begin = performance.now();
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => document.querySelector('#selected')?.textContent !== '', null, {timeout: 120_000});
const opened = performance.now() - begin;
const {nodes, rows} = await page.evaluate(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const count = (column) => { let n = 0; for (const c of atob(column)) n += c.charCodeAt(0) < 0x80 ? 1 : 0; return n; };
  return {nodes: count(data.tree.parents), rows: count(data.samples.bins)};
});
console.log(`${nodes} tree nodes, ${rows} rows of samples; opened in ${Math.round(opened)} ms`);

// In the page, so that no time of the driver's counts.
const time = async (name, act, argument) => {
  const times = [];
  for (let round = 0; round < 5; round++) times.push(await page.evaluate(async ([source, value, n]) => {
    const run = new Function('value', 'n', source);
    const from = performance.now();
    run(value, n);
    document.getElementById('flame').getContext('2d').getImageData(0, 0, 1, 1);  // drawn
    return performance.now() - from;
  }, [act, argument, round]));
  times.sort((a, b) => a - b);
  console.log(`${name.padEnd(34)} median ${times[2].toFixed(0).padStart(5)} ms   longest ${times[4].toFixed(0).padStart(5)} ms`);
};
const flame = await page.locator('#flame').boundingBox();
const timeline = await page.locator('#timeline').boundingBox();
const click = (id) => `const c = document.getElementById('${id}'); const b = c.getBoundingClientRect();
  for (const type of value.types) c.dispatchEvent(new PointerEvent(type, {bubbles: true, clientX: b.left + value.x + 3 * n, clientY: b.top + value.y, pointerId: 1}));`;
await time('pointer over a box', click('flame'), {types: ['pointermove'], x: flame.width / 2, y: 3 * 18 + 9});
await time('zoom into a function of row 3', click('flame'), {types: ['click'], x: flame.width / 3, y: 3 * 18 + 9});
await time('reset zoom', `document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))`);
await time('search that matches much', `const s = document.getElementById('search'); s.value = n % 2 ? '_' : 'a'; s.dispatchEvent(new Event('input'))`);
await page.evaluate(() => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); });
await time('callers, and back', `document.dispatchEvent(new KeyboardEvent('keydown', {key: 'i'}))`);
await page.evaluate(() => { if (document.querySelector('#controls button[aria-pressed=true]').textContent === 'Callers') document.dispatchEvent(new KeyboardEvent('keydown', {key: 'i'})); });
await time('sandwich of a function of row 3', click('flame'), {types: ['click', 'dblclick'], x: flame.width / 3, y: 3 * 18 + 9});
await page.keyboard.press('Escape');
await time('span moved by a tenth', `document.getElementById('timeline').dispatchEvent(new KeyboardEvent('keydown', {key: n ? 'ArrowRight' : '+'}))`);
await page.evaluate(() => document.getElementById('timeline').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'})));
await time('table of functions', `document.querySelector('#tabs button[data-tab=' + (n % 2 ? 'flame' : 'table') + ']').click()`);
if (timeline) await time('pointer over the timeline', click('timeline'), {types: ['pointermove'], x: timeline.width / 2, y: 45});
await browser.close();
