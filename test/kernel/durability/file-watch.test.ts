/** How a server reacts when a user damages the file that it has open. `npm test` builds the program first. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeCache, Program } from '../../support/program.ts';

const test = suite('the file of a database that is served');
let program: Program;
const file = (): string => join(program.folder, 'data/tenantry.db');

test.before.each(async () => {
  program = new Program(nativeCache);
  await (await program.serve()).stop();
});
test.after.each(() => program.end());

const spoiled: [title: string, spoil: () => void, told: (size: number) => string][] = [
  ['cut', () => truncateSync(file(), 20_000), (size) => `cut from ${size} to 20000 bytes`],
  ['emptied', () => truncateSync(file(), 0), (size) => `cut from ${size} to 0 bytes`],
  ['removed', () => rmSync(file()), () => 'removed'],
  [
    'replaced',
    () => {
      copyFileSync(file(), `${file()}.other`);
      renameSync(`${file()}.other`, file());
    },
    () => 'replaced',
  ],
];

for (const [title, spoil, reports] of spoiled)
  test(`a file that is ${title} ends the server with 1 and a line with the reason`, async () => {
    const size = readFileSync(file()).length;
    const server = await program.serve();
    const [child] = program.running;
    const ended = once(child as ChildProcess, 'close');
    spoil();
    // A check that runs now may find damage, but nothing worse.
    await fetch(`${server.url}/api/users/`).catch(() => undefined);
    assert.equal(await ended, [1, null], 'no signal such as SIGBUS');
    const lines = server.errors().split('\n').slice(0, -1);
    const fatal = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 60);
    assert.equal(
      fatal.map(({ err, msg }) => [msg, err.message]),
      [['the server stops: restore a backup', `${file()} was ${reports(size)} while it was served: restore a backup`]],
    );
  });

test.run();
