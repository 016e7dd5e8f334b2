// screenshot.mjs PAGE PICTURE: an HTML report as a picture, for the README. Run it in the folder where the viewers' tests have put
// their modules (build/*/tests/viewers.modules).
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {createRequire} from 'node:module';

const {chromium} = createRequire(resolve('package.json'))('playwright-core');
const [file, picture] = process.argv.slice(2);
if (!file || !picture) throw new Error('usage: screenshot.mjs PAGE PICTURE');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
const page = await browser.newPage({viewport: {width: 1280, height: 760}, colorScheme: 'light'});
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForTimeout(300);
await page.screenshot({path: picture});
await browser.close();
