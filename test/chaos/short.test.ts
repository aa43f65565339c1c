/**
 * Short forms of the parts of `npm run chaos`. Those of disk and power are in test/kernel/durability/power.test.ts. `npm test`
 * builds the program first.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtProgram } from '../support/program.ts';
import { changeBytes } from './corrupt-bytes.ts';
import { failCalls } from './failing-disk.ts';
import { canFail } from './faulty-disk.ts';
import { writeDuringLocks } from './foreign-writer.ts';
import { killAudited } from './kill-audit.ts';
import { killBackups, killRestores } from './kill-backup.ts';
import { killCommands } from './kill-commands.ts';
import { killMigrations } from './kill-migration.ts';
import { killScheduled } from './kill-scheduled.ts';
import { killStarts } from './kill-start.ts';
import { cutPowerOfSinks } from './power-audit.ts';

const test = suite('short chaos tests');
/** Lower than in the long forms. */
const rows = 8000;

test('completes a killed start with the next one, in a new folder and after an unclean shutdown', async () => {
  const { newFolders, uncleanFolders, writes } = await killStarts(3);
  assert.equal([newFolders, uncleanFolders], [3, 3]);
  assert.ok(writes > 0);
});

test('completes a killed migration with the next start, with the same result', async () => {
  const { kills, rows } = await killMigrations(3);
  assert.equal([kills, rows > 6000], [3, true]);
});

test('leaves no partial file and no damage after a killed backup', async () => {
  const { kills, whole, writes } = await killBackups(3, rows);
  assert.ok(kills + whole >= 3 && writes > 0, JSON.stringify({ kills, whole, writes }));
});

test('serves the folder of a killed restore with all of the data or not at all', async () => {
  const { kills, rejected, whole } = await killRestores(3, rows);
  assert.is(whole + rejected, 3);
  assert.ok(kills > 0);
});

test('lists only backups that restore, and keeps the last good one, in an object store that fails', async () => {
  const { complete, rounds } = await killScheduled(3);
  assert.equal([rounds, complete > 0], [3, true]);
});

test('leaves all changes of a killed demo or rotate-key, or none', async () => {
  const { keys } = await killCommands(1);
  // The key of the start, one of the first rotation, one of the last, and perhaps one of a rotation that was killed late.
  assert.ok(keys === 3 || keys === 4, String(keys));
});

test('keeps the audit trail whole, and sends all of it, while the server and commands are killed', async () => {
  const { rounds, writes } = await killAudited(4);
  assert.equal([rounds, writes > 0], [4, true]);
});

(canFail ? test : test.skip)('loses no record of the audit trail in its sinks when the power fails', async () => {
  const { cuts, received } = await cutPowerOfSinks(50, 4000, [builtProgram]);
  assert.equal([cuts, received > 0], [50, true]);
});

test('returns changes of other writers, stores writes or responds 503, and loses nothing beside them', async () => {
  const { changes, holds, reads, writes } = await writeDuringLocks([1500, 300]);
  assert.is(holds, 2);
  assert.ok(changes > 0 && reads > 5 && writes > 0, JSON.stringify({ changes, reads, writes }));
});

(canFail ? test : test.skip)(
  'exits the server and fails commands with the reason on a failing disk, and loses nothing',
  async () => {
    const { ended, windows, writes } = await failCalls(3, [builtProgram]);
    assert.equal([ended > 0, windows, writes > 0], [true, 3, true]);
  },
);

test('rejects or reports changed bytes, or works without harm', async () => {
  const { changes } = await changeBytes(5);
  assert.is(changes, 5);
});

test.run();
