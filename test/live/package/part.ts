import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import packageJson from '../../../package.json' with { type: 'json' };
import { demoPassword } from '../../../src/app/demo/demo.ts';
import { install, logIn, pack, use, useEverything } from '../../support/packed.ts';
import type { Steps } from '../steps.ts';

/** Tests the result of `npm pack` on every supported version of Node.js. */
export async function packagePart(steps: Steps): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-package-'));
  try {
    const file = await steps.step('npm pack', () => pack(folder, false));
    const nodes = fileURLToPath(new URL('../../../dist/nodes/node_modules', import.meta.url));
    for (const name of readdirSync(nodes).filter((entry) => entry.startsWith('node-')))
      await steps.step(
        `${name}: installed in an empty folder, required, imported, started, with logins at an identity provider`,
        async () => {
          const home = join(folder, name);
          await install(home, file);
          const node = join(nodes, name, 'bin/node');
          assert.equal(await use(home, node), ['admin true\n', 'admin\n', `${packageJson.version}\n`]);
          assert.equal(await logIn(home, node), ['mari saml2 0', 'mari saml2 0', 'mari saml2 0']);
        },
      );
    await steps.step('everything in test/package/everything.test.ts', () =>
      useEverything(fileURLToPath(new URL('../../../dist/package/tenantry.cjs', import.meta.url))),
    );
    await steps.step('npx serve --demo', () => serveDemo(folder, file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts the packed file with sample data in an empty folder, and logs in. */
async function serveDemo(folder: string, file: string): Promise<void> {
  const home = join(folder, 'empty');
  mkdirSync(home);
  copyFileSync(file, join(home, basename(file)));
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') };
  const words = ['--yes', '--offline', `./${basename(file)}`, 'serve', '--demo', '--port', '0', '--log-level', 'warn'];
  // A separate process group: npx does not forward every signal.
  const child = spawn('npx', words, { cwd: home, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  try {
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), closed]);
    assert.type(line, 'string', 'it ended before it listened');
    const { url } = JSON.parse(line) as { url: string };
    const login = new URLSearchParams({ username: 'helena.kask', password: demoPassword });
    assert.is((await fetch(`${url}/api-auth/password/`, { method: 'POST', body: login })).status, 200);
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await closed;
  }
}
