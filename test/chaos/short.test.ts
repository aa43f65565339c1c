/** Short forms of the parts of `npm run chaos`; those of disk and power are in test/kernel/durability/power.test.ts. `npm test` built the program before. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtProgram } from '../support/program.ts';
import { changeBytes } from './corrupt-bytes.ts';
import { failCalls } from './failing-disk.ts';
import { canFail } from './faulty-disk.ts';
import { writeBeside } from './foreign-writer.ts';
import { killBackups, killRestores } from './kill-backup.ts';
import { killCommands } from './kill-commands.ts';
import { killMigrations } from './kill-migration.ts';
import { killStarts } from './kill-start.ts';

const test = suite('chaos, shortly');
/** Fewer than in the long forms. */
const rows = 8000;

test('a start that is killed is made good by the next, in a new folder and in an unclean one', async () => {
  const { newFolders, uncleanFolders, writes } = await killStarts(3);
  assert.equal([newFolders, uncleanFolders], [3, 3]);
  assert.ok(writes > 0);
});

test('a migration that is killed is finished by the next start, as if nothing had been', async () => {
  const { kills, rows } = await killMigrations(3);
  assert.equal([kills, rows > 6000], [3, true]);
});

test('a backup that is killed leaves no half file and no harm', async () => {
  const { kills, whole, writes } = await killBackups(3, rows);
  assert.ok(kills + whole >= 3 && writes > 0, JSON.stringify({ kills, whole, writes }));
});

test('a folder in which a restore is killed holds all or is not served', async () => {
  const { kills, rejected: rejection, whole } = await killRestores(3, rows);
  assert.is(whole + rejection, 3);
  assert.ok(kills > 0);
});

test('demo and rotate-key that are killed have done all or nothing', async () => {
  const { keys } = await killCommands(1);
  // That of the start, one of the first rotation, one of the last, and one of that between if it was killed late.
  assert.ok(keys === 3 || keys === 4, String(keys));
});

test('beside other writers reads go on and tell the changes, writes are stored or 503, and nothing is lost', async () => {
  const { changes, holds, reads, writes } = await writeBeside([1500, 300]);
  assert.is(holds, 2);
  assert.ok(changes > 0 && reads > 5 && writes > 0, JSON.stringify({ changes, reads, writes }));
});

(canFail ? test : test.skip)(
  'on a disk that fails for moments the server exits, commands report why, and nothing is lost',
  async () => {
    const { ended, windows, writes } = await failCalls(3, [builtProgram]);
    assert.equal([ended > 0, windows, writes > 0], [true, 3, true]);
  },
);

test('changed bytes are refused, told, or do no harm', async () => {
  const { changes } = await changeBytes(5);
  assert.is(changes, 5);
});

test.run();
