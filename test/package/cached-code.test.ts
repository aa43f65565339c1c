/** The one-file build caches V8's compiled code for later starts (src/decisions/bundle.md). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { present } from '../../src/kernel/present.ts';
import { eventually } from '../support/eventually.ts';
import { builtProgram } from '../support/program.ts';

const test = suite('cached code');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-cached-'));
});

test.after.each(() => rmSync(folder, { recursive: true }));

const node = (words: readonly string[]) =>
  spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: './cache' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Starts a server, waits until it has cached its code and stops it; returns the file. */
async function cachedCode(): Promise<string> {
  const server = node([builtProgram, 'serve', '--port', '0', '--data', './d', '--log-level', 'silent']);
  const files = (): string[] => (existsSync(join(folder, 'cache')) ? readdirSync(join(folder, 'cache')) : []);
  const file = (): string | undefined => files().find((name) => name.endsWith('.code'));
  await eventually('the code is cached', () => file() !== undefined);
  server.kill('SIGTERM');
  await once(server, 'close');
  return join(folder, 'cache', present(file()));
}

/** Replaces the cached program with one without compiled code. */
function replaceProgram(file: string, program: string): void {
  const content = Buffer.concat([Buffer.alloc(4), Buffer.from(program)]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(content));
  writeFileSync(file, Buffer.concat([checksum, content]));
}

async function version(): Promise<string> {
  const child = node([builtProgram, 'version']);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return output;
}

test('stores code in a file that only its user can read, and starts from it', async () => {
  const file = await cachedCode();
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.is(statSync(join(file, '..')).mode & 0o777, 0o700);
  const honest = await version();
  assert.match(honest, /^\d+\.\d+\.\d+\n$/);
  replaceProgram(file, "(function (module) { module.exports = {}; console.log('from the file'); })");
  assert.is(await version(), 'from the file\n');
});

test('ignores a file that is damaged, truncated, or in a folder that others can write to', async () => {
  const file = await cachedCode();
  const honest = await version();
  const whole = readFileSync(file);
  replaceProgram(file, "(function (module) { module.exports = {}; console.log('from the file'); })");
  const other = readFileSync(file);
  for (const damaged of [
    Buffer.concat([other, Buffer.from(' ')]),
    whole.subarray(0, -1),
    whole.subarray(0, 20),
    Buffer.alloc(0),
  ]) {
    writeFileSync(file, damaged);
    assert.is(await version(), honest);
  }
  writeFileSync(file, other);
  chmodSync(join(file, '..'), 0o777);
  assert.is(await version(), honest);
});

test.run();
