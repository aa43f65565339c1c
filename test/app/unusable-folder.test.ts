/** Every command with a missing or unusable data folder prints one line that names it, and creates nothing. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeFolder } from '../../src/kernel/files.ts';
import { preparing } from '../support/prepared.ts';
import { failed, type Program } from '../support/program.ts';

const test = suite('unusable data folder');
let program: Program;

/** With the input of commands that create the data. */
const prepared = preparing(async (first) => {
  assert.is((await first.run(['user', 'add', 'admin', '--data', 'source'])).code, 0);
  assert.is((await first.run(['backup', 'backup', '--data', 'source'])).code, 0);
  writeFileSync(join(first.folder, 'export'), (await first.run(['export', '--data', 'source'])).stdout);
});
test.before.each(async () => {
  ({ program } = await prepared());
});
test.after.each(() => program.end());

/** Commands without data, and those that create the folder. */
const withoutData =
  /^(example|listen|login-check|backups (?:list|fetch|verify)|openapi|config|completion|licenses|version|help)\b/;
const creating = /^(serve|demo|restore|import|promote|user add)\b/;
const words: Readonly<Record<string, string>> = { NAME: 'bob', USER: 'bob', ROLE: 'owner', FILE: 'file' };

/** Every command that uses the data folder, with valid arguments. */
async function commands(): Promise<string[][]> {
  const { stdout } = await program.run(['help', 'all']);
  const usages = [...stdout.matchAll(/^Usage: tenantry ([^[\n]*)/gm)].map(([, usage = '']) => usage.trim());
  const used = usages.filter((usage) => !withoutData.test(usage));
  assert.ok(used.length > 15, `${used.length} commands`);
  return used.map((usage) => usage.split(' ').map((word) => words[word] ?? word));
}

const options = (command: readonly string[]): string[] =>
  ({
    serve: ['--port', '0'],
    'user password': ['--password-stdin'],
    'key add': ['--scopes', 'customers:read'],
    'audit redact': ['--reason', 'Erasure'],
  })[command[0] === 'serve' ? 'serve' : command.slice(0, 2).join(' ')] ?? [];

/** Runs the commands with a data folder, and compares the error line of each. */
async function each(
  folder: string,
  included: (command: string) => boolean,
  expected: (command: string) => string,
): Promise<void> {
  for (const command of await commands()) {
    const [name = ''] = command;
    if (!included(command.join(' '))) continue;
    const source = { restore: ['backup'], import: ['export'], promote: ['--follow', 'source'] }[name];
    const values = source ? [name, ...source] : command;
    const ended = await program.run([...values, ...options(command), '--data', folder], { input: 'correct-horse-7\n' });
    assert.equal(ended, failed(expected(command.join(' '))), command.join(' '));
  }
}

test('reports in every command that the data folder is a file', async () => {
  const file = join(program.folder, 'plain');
  writeFileSync(file, '');
  const line = `cannot use the data folder ${file}: not a directory`;
  const check = `cannot read the data folder ${file}: not a directory; name it with --data`;
  await each(
    file,
    () => true,
    (command) => (command === 'healthcheck' ? check : line),
  );
});

test('reports in every command that creates the data folder that it is below a file', async () => {
  const below = join(program.folder, 'plain/data');
  writeFileSync(join(program.folder, 'plain'), '');
  const line = `cannot use the data folder ${below}: not a directory`;
  await each(
    below,
    (command) => creating.test(command),
    () => line,
  );
});

test('reports in every command that needs data that there is none, and creates no folder', async () => {
  const missing = join(program.folder, 'missing');
  const line = `there is no database in ${missing}`;
  const check = `cannot read the data folder ${missing}: no such file or directory; name it with --data`;
  await each(
    missing,
    (command) => !creating.test(command),
    (command) => (command === 'healthcheck' ? check : line),
  );
  assert.is(existsSync(missing), false);
});

(existsSync('/proc/self') ? test : test.skip)(
  'reports in every command that creates the data folder where that is impossible',
  async () => {
    const line = 'cannot use the data folder /proc/nope/data: /proc/nope: no such file or directory';
    await each(
      '/proc/nope/data',
      (command) => creating.test(command),
      () => line,
    );
  },
);

test('creates a folder with its parents, and returns the first new one', () => {
  const [first, last] = [join(program.folder, 'a'), join(program.folder, 'a/b/c')];
  assert.is(makeFolder(last), first);
  assert.equal(readdirSync(join(first, 'b')), ['c']);
  assert.is(makeFolder(last), undefined);
  assert.is(makeFolder(join(first, 'd')), join(first, 'd'));
});

test.run();
