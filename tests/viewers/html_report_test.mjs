// html_report_test.mjs PAGE TOTAL [BEFORE NOW]: drives an HTML report as a person would, in a real browser and from disk. TOTAL is the
// weight that the page must show; BEFORE and NOW are folded files of the two captures that it compares. Nothing may be requested, logged as an error, or run but the page's own script.
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const [file, total, beforeFile, nowFile] = process.argv.slice(2);
if (!file || !total) throw new Error('usage: html_report_test.mjs PAGE TOTAL [BEFORE NOW]');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let failed = 0;
let errors_are_expected = false;
const check = (what, holds, found = '') => {
  if (!holds) failed++;
  console.log(`${holds ? 'ok' : 'FAILED'}: ${what}${holds ? '' : `: ${found}`}`);
};

const page = await browser.newPage({viewport: {width: 1400, height: 900}, colorScheme: 'light'});
page.on('console', (message) => { if (message.type() === 'error' && !errors_are_expected) check('no error is logged', false, message.text()); });
page.on('pageerror', (error) => check('no exception', false, String(error)));
page.on('request', (request) => { if (!request.url().startsWith('file:')) check('no request', false, request.url()); });
page.on('dialog', (dialog) => { check('no dialog', false, dialog.message()); dialog.dismiss(); });
await page.goto(pathToFileURL(file).href);
const text = (selector) => page.textContent(selector);
const shot = (name) => page.screenshot({path: file.replace(/html$/, `${name}.png`)});
const flame = await page.locator('#flame').boundingBox();
const row = (n) => n * 18 + 9;
const hover = async (x, y) => {
  await page.mouse.move(flame.x + x, flame.y + y);
  return text('#status');
};
const number = (value) => Number(value.replaceAll(',', ''));
const shown = async () => number((await text('#selected')).match(/([\d,]+) (ticks|periods|samples|instructions)/)[1]);

// The whole.
check('the weight is the capture\'s', await shown() === Number(total), `${await shown()}, not ${total}`);
await shot('light');
check('the root says 100 %', (await hover(flame.width / 2, row(0))).includes('100.00 % of all'), await text('#status'));

// Zoom: a function of the first row, then its share of the zoom is told below it.
const first = await hover(flame.width / 2, row(1));
check('a box names its function', /^\S/.test(first) && first.includes('% of all'), first);
await page.mouse.click(flame.x + flame.width / 2, flame.y + row(1));
check('zoomed, the function is as wide as the page', (await hover(4, row(1))).split('   ')[0] === first.split('   ')[0], await text('#status'));
check('the share of the zoom is told', (await text('#status')).includes('% of the zoom'), await text('#status'));
await page.mouse.click(flame.x + 4, flame.y + row(0));

// Search with the share that matches; a bad expression is marked and matches nothing.
const name = first.split('   ')[0];
await page.keyboard.press('/');
await page.keyboard.type(name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
const share = Number((await text('#search-share')).match(/([\d.]+) % matched/)?.[1]);
check('search tells a share', share > 0 && share <= 100, await text('#search-share'));
check('the share is at least the box\'s', share + 0.011 >= Number(first.match(/([\d.]+) % of all/)[1]), `${share} of ${first}`);
await page.fill('#search', '(');
check('a bad expression is marked', await page.getAttribute('#search', 'aria-invalid') === 'true');
await page.keyboard.press('Escape');
check('Escape clears the search', await page.inputValue('#search') === '' && await text('#search-share') === '');

// Callers, by key.
await page.keyboard.press('i');
check('i turns to callers', await page.locator('#controls button[aria-pressed=true]').textContent() === 'Callers');
await page.keyboard.press('i');

// Double click shows all stacks through a function: its callers above, its callees below.
check('callers have no graph of their own at first', !(await page.locator('#callers').isVisible()));
const second = await hover(flame.width / 2, row(2));
await page.mouse.dblclick(flame.x + flame.width / 2, flame.y + row(2));
check('double click keeps to a function', (await text('#controls')).includes('only stacks through'), await text('#controls'));
const above = await page.locator('#callers').boundingBox();
const below = await page.locator('#flame').boundingBox();
const over = async (box, y) => { await page.mouse.move(box.x + box.width / 2, y); return (await text('#status')).split('   ')[0]; };
check('the function is at the bottom of the one', await over(above, above.y + above.height - 10) === second.split('   ')[0], await text('#status'));
check('and on top of the other', await over(below, below.y + 9) === second.split('   ')[0], await text('#status'));
check('its callers are above it', above.height >= 2 * 18 && (await over({x: above.x, width: 20}, above.y + above.height - 28)).length > 1, await text('#status'));
await shot('sandwich');
await page.keyboard.press('Escape');
check('Escape leaves it', !(await text('#controls')).includes('only stacks through') && !(await page.locator('#callers').isVisible()));

// The table: sorts by every column, filters by the search.
await page.keyboard.press('2');
const cells = (column) => page.$$eval(`#table tbody tr td:nth-child(${column})`, (all) => all.map((cell) => cell.textContent));
const descending = (values) => values.every((value, i) => i === 0 || values[i - 1] >= value);
check('sorted by self weight', descending((await cells(1)).map(number)));
check('self weights add up', (await cells(1)).map(number).reduce((a, b) => a + b, 0) === Number(total));
await page.click('#table th:nth-child(3)');
check('sorted by inclusive weight', descending((await cells(3)).map(number)));
await page.click('#table th:nth-child(3)');
check('and the other way round', descending((await cells(3)).map(number).reverse()));
const names = () => page.$$eval('#table tbody tr td:last-child', (all) => all.map((cell) => cell.textContent));
const rows = (await names()).length;
await page.fill('#search', name.slice(0, 40).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
const filtered = await names();
check('the search filters', filtered.length > 0 && filtered.length <= rows && filtered.includes(name), `${filtered.length} of ${rows}`);
await page.fill('#search', '');
await shot('table');
await page.keyboard.press('Escape');
await page.locator('#tabs button').first().click();

// The timeline: a span selects samples for every view; keys move and clear it; a lane's name selects the lane.
const timeline = await page.locator('#timeline').boundingBox();
const drag = async (from, to) => {
  const x = (part) => timeline.x + 150 + part * (timeline.width - 150);
  await page.mouse.move(x(from), timeline.y + 45);
  await page.mouse.down();
  await page.mouse.move(x((from + to) / 2), timeline.y + 45);
  await page.mouse.move(x(to), timeline.y + 45);
  await page.mouse.up();
};
await drag(0, 0.5);
const before = await shown();
await drag(0.5, 0.9999);
const after = await shown();
check('two halves select no more than the whole, and not nothing', before + after <= Number(total) * 1.1 && before + after > 0, `${before} + ${after}`);
check('the selection is told', (await text('#selected')).startsWith('selected:'));
await page.keyboard.press('2');
check('the table follows it', (await cells(1)).map(number).reduce((a, b) => a + b, 0) === after);
await page.locator('#tabs button').first().click();
await page.focus('#timeline');
await page.keyboard.press('ArrowLeft');
check('an arrow moves the span', (await text('#selected')).startsWith('selected:') && await shown() !== undefined);
await page.keyboard.press('Escape');
check('Escape clears it', await shown() === Number(total), await text('#selected'));
const lanes = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).lanes.map((lane) => lane.name));
const has_phases = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).phases.length > 0);
await page.mouse.click(timeline.x + 20, timeline.y + 18 + (has_phases ? 16 : 0) + 9);
check('a lane\'s name selects it', (await text('#selected')).includes(lanes[0]), await text('#selected'));
await page.mouse.click(timeline.x + 20, timeline.y + 18 + (has_phases ? 16 : 0) + 9);

// The axis: some round times; and where numbers are too large to tell them apart, none instead of steps that never end.
const ticks = (...of) => page.evaluate(([start, end, wanted]) => axisTicks(start, end, wanted), of);
check('the axis has round times', JSON.stringify(await ticks(12, 100, 4)) === '[50,100]', JSON.stringify(await ticks(12, 100, 4)));
for (const [start, end] of [[2 ** 63, 2 ** 63 + 8192], [2 ** 53, 2 ** 53], [2 ** 53 - 4, 2 ** 53]])
  check(`an axis from ${start} to ${end} ends`, (await ticks(start, end, 11)).length <= 20);

// The devices' lanes, under the vCPUs': what a request was doing, which it was; a click on the name selects nothing.
const devices = await page.evaluate(() => (JSON.parse(document.getElementById('data').textContent).devices || {lanes: []}).lanes.map((lane) => lane.name));
if (devices.length) {
  const vcpus = lanes.filter((lane) => lane.startsWith('vCPU')).length;
  const y = timeline.y + 18 + (has_phases ? 16 : 0) + vcpus * 18 + 9;
  const told = new Set();
  for (let part = 0; part < 1; part += 0.002) {
    await page.mouse.move(timeline.x + 150 + part * (timeline.width - 150), y);
    told.add((await text('#tip')).replace(/ at [\d.]+ (ns|µs|ms|s)\n/, '\n').replace(/[\d.]+ (ns|µs|ms|s)\b/g, 'T'));
  }
  const all = [...told].join('\n');
  check('a lane is its queue\'s', all.includes(`${devices[0]}\n`), all);
  for (const what of ['read: at the host for T\n8 sectors from 2048, T in all', 'write: at the host for T\n16 sectors from 4096', 'other: in QEMU for T\nT in all'])
    check(`the tip tells of "${what.split('\n')[0]}"`, all.includes(what), all);
  await page.mouse.click(timeline.x + 20, y);
  check('a device is nothing to select', !(await text('#selected')).includes(devices[0]) && await shown() === Number(total), await text('#selected'));
  check('the legend tells the colours', (await page.locator('#device-legend').isVisible()));
  await page.mouse.move(timeline.x + 10, timeline.y + 5);
  await shot('devices');
} else {
  check('no device, no legend of devices', !(await page.locator('#device-legend').isVisible()));
}

// The host's threads: the name of one shows what it was sampled doing, a span narrows it, and the guest's views stay as they are.
const host = await page.evaluate(() => (JSON.parse(document.getElementById('data').textContent).host || {lanes: []}).lanes.map((lane) => lane.name));
if (host.length) {
  const inHost = async () => number((await text('#selected')).match(/([\d,]+) host samples/)[1]);
  const vcpus = lanes.filter((lane) => lane.startsWith('vCPU')).length;
  const laneY = (n) => timeline.y + 18 + (has_phases ? 16 : 0) + (vcpus + n) * 18 + 9;
  await page.click('#tabs button[data-tab=host]');
  const whole = await inHost();
  check('all samples of the capture\'s time are the host\'s', whole === 5, whole);
  check('its stacks are drawn', (await hover(flame.width / 2, row(0))).includes(`${whole} host samples: 100.00 % of all`), await text('#status'));
  await page.locator('#tabs button').first().click();
  await page.mouse.click(timeline.x + 20, laneY(1));
  check('a thread\'s name shows the host', await page.getAttribute('#tabs button[data-tab=host]', 'aria-selected') === 'true' && (await text('#selected')).includes('<b>worker[4250]'), await text('#selected'));
  check('and narrows it', await inHost() === 2 && (await hover(flame.width / 2, row(2))).startsWith('pread64'), await text('#status'));
  await shot('host');
  await page.locator('#tabs button').first().click();
  check('the guest\'s stacks are still all', await shown() === Number(total), await text('#selected'));
  check('whose that is, is said', (await text('#selected')).includes('of the whole guest'), await text('#selected'));
  await drag(0.2, 0.5);
  check('a span does not turn to the host', await page.getAttribute('#tabs button[data-tab=flame]', 'aria-selected') === 'true');
  await page.mouse.click(timeline.x + 20, laneY(1));
  await page.click('#tabs button[data-tab=host]');
  await drag(0.2, 0.235);
  check('a span narrows the host, too', await inHost() === 2, await text('#selected'));
  await page.focus('#timeline');
  await page.keyboard.press('Escape');
  await page.locator('#tabs button').first().click();
}

// Waits off the CPU, where there are events.
const tabs = await page.$$eval('#tabs button', (all) => all.map((button) => button.textContent));
if (tabs.includes('Off-CPU')) {
  await page.click('#tabs button[data-tab=off]');
  const all = await hover(flame.width / 2, row(0));
  check('off-CPU time is time', / (s|ms|µs|ns): 100.00 % of all/.test(all), all);
  await shot('off-cpu');
  const state = [];
  for (let part = 0.05; part < 1; part += 0.05) {
    await page.mouse.move(timeline.x + 150 + part * (timeline.width - 150), timeline.y + 18 + (has_phases ? 16 : 0) + 9);
    state.push(await text('#status'));
  }
  check('a vCPU\'s states are told', state.some((line) => /vCPU 0 at .*(idle|runs) /.test(line)), state[0]);
} else {
  check('without events there is no empty tab', !lanes.some((lane) => !lane.startsWith('vCPU')), lanes.join());
}

// What changed, judged by the folded files: shares by function, and frames that are gone.
if (beforeFile) {
  const sharesOf = (path) => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => /^(.*) (\d+)$/.exec(line));
    const sum = lines.reduce((all, line) => all + Number(line[2]), 0);
    const shares = new Map();
    for (const [, stack, weight] of lines) {
      const leaf = stack.split(';').at(-1);
      shares.set(leaf, (shares.get(leaf) ?? 0) + 100 * Number(weight) / sum);
    }
    return shares;
  };
  const before = sharesOf(beforeFile);
  const now = sharesOf(nowFile);
  await page.click('#tabs button[data-tab=table]');
  const shown = new Map((await names()).map((function_, i) => [function_, i]));
  const changes = (await cells(5)).map(Number);
  const wrong = [...new Set([...before.keys(), ...now.keys()])].filter((leaf) => {
    const expected = (now.get(leaf) ?? 0) - (before.get(leaf) ?? 0);
    return !shown.has(leaf) || Math.abs(changes[shown.get(leaf)] - expected) > 0.0051;
  });
  check('the table has every change of self', wrong.length === 0, wrong.slice(0, 5).join());
  await page.click('#tabs button[data-tab=diff]');
  const sweep = async (deepest) => {
    const found = [];
    for (let n = 0; n <= deepest; n++) for (let part = 0.01; part < 1; part += 0.04) found.push(await hover(part * flame.width, row(n)));
    return found;
  };
  const root = await hover(flame.width / 2, row(0));
  check('both sides are whole', /before: 100.00 %, now: 100.00 %: no change beyond the noise/.test(root), root);
  check('what is gone has no width', !(await sweep(3)).some((words) => words.includes('now: 0.00 %:')));
  await shot('difference');
  await page.click('#controls button:has-text("Vanished")');
  const gone = await sweep(3);
  check('and has the width it had on request', gone.some((words) => /before: (?!0\.00).* %, now: 0\.00 %: -[\d.]+ points, gone/.test(words)), gone.slice(0, 40).join('\n'));
  await shot('vanished');
}

// About, and the dark colours.
await page.click('#tabs button[data-tab=about]');
check('the page tells of the capture', (await text('#about-panel')).includes('selected'));
await shot('about');
await page.locator('#tabs button').first().click();
const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
await page.click('#theme');
check('the colours change', await page.evaluate(() => getComputedStyle(document.body).backgroundColor) !== light);
await shot('dark');

// Nothing of the capture became markup, and the policy would stop it.
check('the title is the file\'s', /\.bin$/.test(await page.title()), await page.title());
const foreign = await page.$$eval('img, iframe, svg, b, i:not([class]), object, embed, link, base', (all) => all.length);
check('names are no markup', foreign === 0, `${foreign} elements`);
check('two scripts: data and program', await page.$$eval('script', (all) => all.length) === 2);
errors_are_expected = true;
const ran = await page.evaluate(() => {
  const script = document.createElement('script');
  script.textContent = 'document.documentElement.dataset.ran = 1';
  document.body.append(script);
  return document.documentElement.dataset.ran === '1';
});
check('the policy stops a foreign script', !ran);
await browser.close();
console.log(failed ? `${failed} checks failed` : 'all checks of the page hold');
process.exit(failed ? 1 : 0);
