import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { enterWriteAheadLog, openHandle } from '../../../src/kernel/durability/handle.ts';
import { codeOf } from '../../../src/kernel/present.ts';

const test = suite('opening a database file');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-handle-'));
test.after(() => rmSync(folder, { recursive: true }));

test('a process that switches a new file to WAL mode waits for another one that does the same', () => {
  const file = join(folder, 'new.db');
  const [first, second] = [openHandle(file, undefined), openHandle(file, undefined)];
  first.exec('BEGIN IMMEDIATE');
  const rejections: unknown[] = [];
  const pragma = second.pragma.bind(second);
  second.pragma = (...input) => {
    try {
      return pragma(...input);
    } catch (error) {
      rejections.push(codeOf(error));
      first.exec('COMMIT');
      enterWriteAheadLog(first);
      throw error;
    }
  };
  enterWriteAheadLog(second);
  assert.equal(rejections, ['SQLITE_BUSY']);
  for (const handle of [first, second]) {
    assert.is(handle.pragma('journal_mode', { simple: true }), 'wal');
    handle.close();
  }
});

test.run();
