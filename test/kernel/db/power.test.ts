/** What is left of acknowledged writes when the disk fails and the power goes: a short form of `npm run chaos`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canFail } from '../../chaos/faulty-disk.ts';
import { losePower } from '../../chaos/power.ts';
import { builtProgram } from '../../support/program.ts';

const test = suite('power');
// Without a C compiler the runner tells that it was skipped.
const onFaultyDisk = canFail ? test : test.skip;

onFaultyDisk(
  'no cut of the power loses an acknowledged write, whatever sectors are torn and whichever syncs failed before',
  async () => {
    const { damaged, losses, refused, windows, writes } = await losePower(50, 5000, [builtProgram]);
    assert.equal({ damaged, losses }, { damaged: 0, losses: 0 });
    assert.ok(writes > 20 && refused > 0 && windows > 2, JSON.stringify({ writes, refused, windows }));
  },
);

test.run();
