/** Secrets in the output of commands, and hostile input files. `npm test` builds the program first. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeCache, Program } from '../support/program.ts';

const test = suite('commands');
let program: Program;

test.before.each(() => {
  program = new Program(nativeCache);
});
test.after.each(() => program.end());

test('prints no credentials of URLs in config', async () => {
  const env = {
    TENANTRY_SMTP_URL: 'smtps://mailer:hidden-1@mail.example.com:465',
    TENANTRY_BASE_URL: 'https://user:hidden-2@tenantry.example.com',
  };
  for (const words of [['config'], ['config', '--file'], ['config', '--markdown']]) {
    const { stderr, stdout } = await program.run(words, { env });
    assert.not.match(stdout + stderr, 'hidden');
  }
});

test('writes nothing when restore reads a file that is no backup, is truncated, or has trailing bytes', async () => {
  const path = (name: string): string => join(program.folder, name);
  assert.is((await program.run(['user', 'add', 'bob', '--data', 'data'])).code, 0);
  assert.is((await program.run(['backup', 'good', '--data', 'data'])).code, 0);
  const whole = readFileSync(path('good'));
  const bad = {
    zeros: gzipSync(Buffer.alloc(100_000_000)),
    cut: whole.subarray(0, whole.length >> 1),
    tail: Buffer.concat([whole, Buffer.from('tail')]),
    twice: Buffer.concat([whole, whole]),
  };
  for (const [name, content] of Object.entries(bad)) {
    writeFileSync(path(name), content);
    const { code, stderr } = await program.run(['restore', name, '--data', `into-${name}`]);
    assert.is(code, 1, name);
    assert.match(stderr, /^tenantry: cannot restore [^\n]+\n$/);
    const left = existsSync(path(`into-${name}`)) ? readdirSync(path(`into-${name}`)) : [];
    const bytes = left.reduce((sum, file) => sum + statSync(join(path(`into-${name}`), file)).size, 0);
    assert.ok(!left.includes('tenantry.db') && bytes < 10_000, `${name}: ${left}`);
  }
  assert.is((await program.run(['restore', 'good', '--data', 'into-good'])).code, 0);
});

test.run();
