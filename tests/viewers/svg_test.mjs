// svg_test.mjs PICTURE FOLDED: drives a flame graph as a person would, in a real browser and from disk. FOLDED has the same stacks: the
// picture's weights and the share that a search finds are judged by it. Nothing may be requested, logged as an error, or run but the
// picture's own script; and without scripts the picture must still be one.
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const [file, foldedFile] = process.argv.slice(2);
if (!file || !foldedFile) throw new Error('usage: svg_test.mjs PICTURE FOLDED');
const stacks = readFileSync(foldedFile, 'utf8').trimEnd().split('\n').map((line) => {
  const blank = line.lastIndexOf(' ');
  return {frames: line.slice(0, blank).split(';'), weight: Number(line.slice(blank + 1))};
});
const total = stacks.reduce((sum, stack) => sum + stack.weight, 0);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let failed = 0;
const check = (what, holds, found = '') => {
  if (!holds) failed++;
  console.log(`${holds ? 'ok' : 'FAILED'}: ${what}${holds ? '' : `: ${found}`}`);
};

async function open(scripts) {
  const context = await browser.newContext({viewport: {width: 1200, height: 900}, javaScriptEnabled: scripts});
  const page = await context.newPage();
  page.on('console', (message) => { if (message.type() === 'error') check('no error is logged', false, message.text()); });
  page.on('pageerror', (error) => check('no exception', false, String(error)));
  page.on('request', (request) => { if (!request.url().startsWith('file:')) check('no request', false, request.url()); });
  await page.goto(pathToFileURL(file).href);
  return page;
}
const page = await open(true);
let answer = null;  // to the next question
page.on('dialog', (dialog) => {
  if (answer === null) check('no dialog', false, dialog.message());
  dialog.accept(answer ?? '');
  answer = null;
});
const text = (selector) => page.textContent(selector);
const shot = (name) => page.screenshot({path: file.replace(/svg$/, `${name}.png`)});
// Every frame as it is drawn now.
const drawn = () => page.$$eval('.frame', (all) => all.map((group) => ({
  name: group.querySelector('title').textContent.split('\n')[0], depth: Number(group.dataset.depth), weight: Number(group.dataset.weight),
  x: group.querySelector('rect').x.baseVal.value, width: group.querySelector('rect').width.baseVal.value,
  label: group.querySelector('text')?.textContent ?? '', away: group.classList.contains('away'), above: group.classList.contains('above'),
  match: group.classList.contains('match'),
})));
const click = (index) => page.locator('.frame').nth(index).locator('rect').click({position: {x: 1, y: 7}, force: true});
const near = (a, b) => Math.abs(a - b) < 0.02 * Math.max(1, b);

// The whole: weights, places, words.
const whole = await drawn();
check('the weight is the capture\'s', whole[0].weight === total, `${whole[0].weight}, not ${total}`);
check('widths are shares', whole.every((frame) => near(frame.width + 0.5, Math.max(0.55, frame.weight / total * 1180))));
const first = whole.filter((frame) => frame.depth === 1);
check('first frames fill the root', first.reduce((sum, frame) => sum + frame.weight, 0) <= total && first.length > 0);
check('a frame lies inside its caller', whole.every((frame, i) => {
  let caller = i - 1;
  while (caller >= 0 && whole[caller].depth >= frame.depth) caller--;
  return caller < 0 || (frame.x >= whole[caller].x - 0.02 && frame.x + frame.width <= whole[caller].x + whole[caller].width + 0.6);
}));
await shot('whole');

// A difference: parents too have the colour of what their tooltip says.
const tips = await page.$$eval('.frame', (all) => all.map((group) => ({words: group.querySelector('title').textContent,
  colour: group.querySelector('rect').getAttribute('fill').match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16))})));
const compared = tips.slice(1).filter(({words}) => words.includes(' before, '));
if (compared.length > 0) {
  check('every frame is compared', compared.length === tips.length - 1);
  const kind = ({words, colour: [red, , blue]}) => (/: \+[\d.]+ points/.test(words) ? red > blue + 20 : /: -[\d.]+ points/.test(words) ? blue > red + 20 : Math.abs(red - blue) <= 20);
  check('red grew, blue shrank, grey did not change', compared.every(kind), JSON.stringify(compared.find((one) => !kind(one))));
  check('some did', compared.some(({words}) => / points/.test(words)));
  const shares = ({words}) => words.match(/([\d.]+) % before, ([\d.]+) % now(?:: ([+-][\d.]+) points)?/).slice(1).map(Number);
  check('the change is that of the shares', compared.every((one) => {
    const [before, now, points] = shares(one);
    return Number.isNaN(points) || Math.abs(now - before - points) < 0.0151;
  }));
  check('what is gone is told', (await text('svg')).includes('gone since '));
}

// Zoom into a frame that has callees and neighbours, where there is one.
let index = whole.findIndex((frame, i) => frame.depth > 0 && frame.weight < total && i + 1 < whole.length && whole[i + 1].depth > frame.depth);
if (index < 0) index = 1;
await page.locator('.frame').nth(index).locator('rect').hover({position: {x: 1, y: 7}, force: true});
check('a frame tells its name and share', (await text('.pointed')).startsWith(`${whole[index].name} · ${(100 * whole[index].weight / total).toFixed(2)} % of all`),
  await text('.pointed'));
await click(index);
const zoomed = await drawn();
check('zoomed, the frame is as wide as the picture', near(zoomed[index].width + 0.5, 1180), zoomed[index].width);
check('its callers are, and are pale', zoomed.every((frame) => !frame.above || (near(frame.width + 0.5, 1180) && frame.depth < zoomed[index].depth))
  && zoomed.filter((frame) => frame.above).length === zoomed[index].depth);
check('what it does not call is away', zoomed.every((frame, i) => i === index || frame.above || frame.away || frame.depth > zoomed[index].depth));
const next = zoomed.findIndex((frame, i) => i > index && !frame.away && frame.depth === zoomed[index].depth + 1);
if (next > 0) {
  check('callees have their share of it', near(zoomed[next].width + 0.5, Math.max(0.55, zoomed[next].weight / zoomed[index].weight * 1180)));
  await page.locator('.frame').nth(next).locator('rect').hover({position: {x: 0.5, y: 7}, force: true});
  check('the share of the zoom is told', (await text('.pointed')).endsWith('% of the zoom'), await text('.pointed'));
}
await shot('zoomed');
await page.locator('.reset').click();
const reset = await drawn();
check('"Reset zoom" restores every frame', reset.every((frame, i) => !frame.away && !frame.above && Math.abs(frame.x - whole[i].x) < 0.02
  && Math.abs(frame.width - whole[i].width) < 0.02 && frame.label === whole[i].label));
check('and is gone', await page.getAttribute('.reset', 'visibility') === 'hidden');

// Search: the share is that of the folded file's stacks.
const literal = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const pattern = whole.map((frame) => frame.name).filter((name) => /^[\w.]+$/.test(name) && name !== 'all').slice(0, 40).at(-1) ?? literal(first[0].name);
const expected = (typed) => {
  const regular = new RegExp(typed, 'i');
  return 100 * stacks.filter((stack) => stack.frames.some((frame) => regular.test(frame))).reduce((sum, stack) => sum + stack.weight, 0) / total;
};
for (const typed of [pattern, pattern.slice(0, 3), 'o']) {
  answer = typed;
  await page.locator('.search').click();
  const share = Number((await text('.matched')).match(/^matched: ([\d.]+) %$/)?.[1]);
  // Frames that are too thin to be drawn are not found.
  check(`search for ${typed} tells the share of its stacks`, share <= expected(typed) + 0.006 && share >= expected(typed) - 0.5, `${share}, not ${expected(typed)}`);
  check('and marks them', (await drawn()).every((frame, i) => frame.match === (i !== 0 && new RegExp(typed, 'i').test(frame.name))));
  if (typed === pattern) await shot('search');
  await page.locator('.search').click();
  check('"Clear search" clears it', await text('.matched') === '' && !(await drawn()).some((frame) => frame.match));
}
answer = '(';
await page.keyboard.press('/');
check('a bad expression is told', (await text('.matched')).includes('no regular expression: ('), await text('.matched'));
answer = pattern;
await page.keyboard.press('Control+f');
check('Control+F searches', (await text('.matched')).startsWith('matched: '));
await click(index);
check('the share of the zoom is told too', /^matched: [\d.]+ % of all, [\d.]+ % of the zoom below it$/.test(await text('.matched')), await text('.matched'));
await page.keyboard.press('Escape');
check('Escape resets both', await text('.matched') === '' && (await drawn()).every((frame) => !frame.above && !frame.away && !frame.match));

// Names are inert.
const elements = await page.$$eval('*', (all) => [...new Set(all.map((one) => one.localName))].sort().join(' '));
check('only elements of the picture', elements === 'g rect script style svg text title', elements);
check('one script', await page.$$eval('script', (all) => all.length) === 1);
const handlers = await page.$$eval('*', (all) => all.flatMap((one) => [...one.attributes].map((attribute) => attribute.name)).filter((name) => /^on|href/.test(name)));
check('no attribute that runs or leads away', handlers.length === 0, handlers.join());
await page.context().close();

// Without scripts, as code hosts show it: the names and tooltips are in the markup, and what would not work does not show.
const plain = await open(false);
check('without scripts every frame has its tooltip', await plain.locator('.frame > title').count() === whole.length);
check('and wide ones their name', await plain.locator('.frame > text').count() >= whole.filter((frame) => frame.width > 30).length);
check('and no buttons', !(await plain.locator('.search').isVisible()) && !(await plain.locator('.reset').isVisible()));
await plain.context().close();
await browser.close();
console.log(failed ? `${failed} checks failed` : 'all checks of the picture hold');
process.exit(failed ? 1 : 0);
