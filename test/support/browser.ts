/**
 * Chromium for tests, from the package @sparticuz/chromium, which contains the browser compressed, with fonts and shared
 * libraries that a minimal machine lacks. Unpacked once into dist/, it needs only glibc on Linux and an x64 processor.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { addCleanup, otherCpu } from './runner/cleanup.ts';
import { cpuOfSession } from './runner/process-cpu.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

let shared: Browser | undefined;

/** Returns the browser that the tests of this process share, and starts it on first use. `close` closes only its pages. */
export async function startBrowser(): Promise<Browser | undefined> {
  if (shared?.isConnected()) return shared;
  const browser = await launchBrowser();
  if (!browser) return undefined;
  const end = browser.close.bind(browser);
  const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  // Chromium runs in its own session, so that all of its processes can be killed together.
  const session = processInfo.find(({ type }) => type === 'browser')?.id;
  otherCpu.browserSeconds = () => (session === undefined ? 0 : cpuOfSession(session));
  addCleanup(() => end());
  shared = Object.assign(browser, {
    close: async () => void (await Promise.all(browser.contexts().map((context) => context.close()))),
  });
  return shared;
}

/** Starts a browser. If none can run, prints the reason in one line and returns undefined, and the tests are skipped. */
export async function launchBrowser(): Promise<Browser | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log(`No browser runs here: the package has one for linux-x64, not ${process.platform}-${process.arch}`);
    return undefined;
  }
  const folder = await unpacked();
  try {
    return await chromium.launch({
      executablePath: join(folder, 'chromium'),
      env: {
        ...process.env,
        LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
        // Chromium also searches for fonts in the folder `fonts` below this one.
        XDG_DATA_HOME: join(folder, 'fonts'),
      },
      args: [
        // As root, Chromium does not start its sandbox. It opens only pages of these tests.
        '--no-sandbox',
        '--disable-gpu',
        // Blocks all requests except those to the tested server.
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  } catch (error) {
    // Chromium's own message is more specific than the exit of the process.
    const { message } = error as Error;
    console.log(`No browser runs here: ${(/\[err\] (.+)/.exec(message) ?? /(.+)/.exec(message))?.[1]}`);
    return undefined;
  }
}

/** Returns the folder of the unpacked browser, one per version. */
async function unpacked(): Promise<string> {
  const { devDependencies } = JSON.parse(readFileSync(join(project, 'test/package.json'), 'utf8'));
  const folder = join(project, `dist/chromium-${devDependencies['@sparticuz/chromium']}`);
  if (existsSync(folder)) return folder;
  mkdirSync(join(project, 'dist'), { recursive: true });
  const temporary = mkdtempSync(`${folder}.`);
  try {
    // The package unpacks into TMPDIR, but its shared libraries only in a Lambda function.
    await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', "await (await import('@sparticuz/chromium')).default.executablePath()"],
      { cwd: project, env: { ...process.env, TMPDIR: temporary, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' } },
    );
    // Rename the folder only when it is complete.
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another run may have created it first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
