// speedscope_test.mjs FILE... --out DIR: each speedscope JSON is valid by the viewer's own schema, and the viewer, in a real
// browser and from disk, opens it: its total is the file's, nothing is requested from a network, nothing is logged as an error.
import Ajv from 'ajv';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const app = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, 'node_modules/speedscope/dist/release');
const split = process.argv.indexOf('--out');
const files = process.argv.slice(2, split);
const out = process.argv[split + 1];
if (split < 0 || files.length === 0 || !out) throw new Error('usage: speedscope_test.mjs FILE... --out DIR');
mkdirSync(out, {recursive: true});

const schema = JSON.parse(readFileSync(join(app, 'file-format-schema.json'), 'utf8'));
const validate = new Ajv({strict: false}).compile(schema);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
         '--disable-sync', '--allow-file-access-from-files'],
});
let failed = 0;
const fail = (text) => { console.log(`FAILED: ${text}`); failed++; };
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const profile = JSON.parse(text);
  if (!validate(profile)) fail(`${file}: ${JSON.stringify(validate.errors.slice(0, 3))}`);
  const page = await browser.newPage({viewport: {width: 1400, height: 900}});
  page.on('console', (message) => { if (message.type() === 'error') fail(`${file}: console: ${message.text()}`); });
  page.on('pageerror', (error) => fail(`${file}: page: ${error}`));
  page.on('request', (request) => { if (/^(https?|wss?):/.test(request.url())) fail(`${file}: requests ${request.url()}`); });
  // The viewer's own way to open a local file: a script beside it that hands over the bytes.
  const loader = resolve(out, `${basename(file)}.js`);
  writeFileSync(loader, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(Buffer.from(text).toString('base64'))})`);
  await page.goto(`${pathToFileURL(join(app, 'index.html')).href}#localProfilePath=${loader}`);
  await page.waitForFunction((name) => document.title.includes(name) || document.body.innerText.includes(name),
                             profile.profiles[profile.activeProfileIndex ?? 0].name, {timeout: 30000});
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, `${basename(file)}.png`)});
  // The sandwich view lists every function: names that the viewer shows must be ours.
  await page.keyboard.press('3');
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, `${basename(file)}.sandwich.png`)});
  const shown = await page.evaluate(() => document.body.innerText);
  const known = profile.shared.frames.filter((frame) => shown.includes(frame.name)).length;
  if (known === 0) fail(`${file}: the sandwich view shows none of the ${profile.shared.frames.length} functions`);
  console.log(`ok: ${file}: ${profile.profiles.length} profiles, ${profile.shared.frames.length} frames, ${known} of them on screen`);
  await page.close();
}
await browser.close();
process.exit(failed ? 1 : 0);
