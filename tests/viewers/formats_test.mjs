// formats_test.mjs FOLDED FILE... --out DIR: the FILEs (pprof, callgrind, Chrome) are of the capture whose folded stacks FOLDED has.
// npm's pprof-format decodes the pprof one to the same sums, and speedscope, in a real browser and from disk, opens each of them, shows
// functions of the folded file and logs no error.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {gunzipSync} from 'node:zlib';
import {chromium} from 'playwright-core';
import {Profile} from 'pprof-format';

const app = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, 'node_modules/speedscope/dist/release');
const split = process.argv.indexOf('--out');
const [foldedFile, ...files] = process.argv.slice(2, split);
const out = process.argv[split + 1];
if (split < 0 || files.length === 0 || !out) throw new Error('usage: formats_test.mjs FOLDED FILE... --out DIR');
mkdirSync(out, {recursive: true});
let failed = 0;
const fail = (text) => { console.log(`FAILED: ${text}`); failed++; };

const folded = readFileSync(foldedFile, 'utf8').trimEnd().split('\n').map((line) => {
  const blank = line.lastIndexOf(' ');
  return {stack: line.slice(0, blank).split(';'), count: Number(line.slice(blank + 1))};
});
const functions = new Set(folded.flatMap((line) => line.stack));

function checkPprof(file) {
  const profile = Profile.decode(gunzipSync(readFileSync(file)));
  const text = (index) => profile.stringTable.strings[Number(index)];
  const functionName = new Map(profile.function.map((f) => [Number(f.id), text(f.name)]));
  const lines = new Map(profile.location.map((l) => [Number(l.id), l.line.map((line) => functionName.get(Number(line.functionId)))]));
  const period = Number(profile.period) || 1;
  const sums = new Map();
  for (const sample of profile.sample) {
    const stack = sample.locationId.flatMap((id) => lines.get(Number(id))).reverse().join(';');
    sums.set(stack, (sums.get(stack) ?? 0) + Number(sample.value.at(-1)));
  }
  for (const {stack, count} of folded) {
    const sum = sums.get(stack.join(';')) ?? 0;
    // A row per vCPU and label, each rounded down to whole nanoseconds.
    if (Math.abs(sum - count * period) > count + profile.sample.length) fail(`${file}: ${stack}: ${sum}, not ${count} of ${period}`);
    sums.delete(stack.join(';'));
  }
  if (sums.size !== 0) fail(`${file}: stacks that the folded file does not have: ${[...sums.keys()]}`);
  console.log(`ok: ${file}: pprof-format reads ${profile.sample.length} samples`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
         '--disable-sync', '--allow-file-access-from-files'],
});
for (const file of files) {
  if (file.endsWith('.pb.gz')) checkPprof(file);
  const name = basename(file);
  const page = await browser.newPage({viewport: {width: 1400, height: 900}});
  page.on('console', (message) => { if (message.type() === 'error') fail(`${file}: console: ${message.text()}`); });
  page.on('pageerror', (error) => fail(`${file}: page: ${error}`));
  page.on('dialog', (dialog) => { fail(`${file}: the viewer says: ${dialog.message()}`); dialog.dismiss(); });
  const loader = resolve(out, `${name}.js`);
  writeFileSync(loader, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${JSON.stringify(readFileSync(file).toString('base64'))})`);
  await page.goto(`${pathToFileURL(join(app, 'index.html')).href}#localProfilePath=${loader}`);
  await page.waitForFunction(() => document.body.innerText.includes('Sandwich'), null, {timeout: 60000});
  await page.keyboard.press('3');
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, `${name}.png`)});
  const shown = await page.evaluate(() => document.body.innerText);
  const known = [...functions].filter((one) => shown.includes(one)).length;
  if (known === 0) fail(`${file}: speedscope shows none of the ${functions.size} functions`);
  console.log(`ok: ${file}: speedscope shows ${known} of ${functions.size} functions`);
  await page.close();
}
await browser.close();
process.exit(failed ? 1 : 0);
