import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chaos } from '../../chaos/kill.ts';
import { builtProgram } from '../../support/program.ts';

const test = suite('a server that is killed');

test('keeps every acknowledged write with its event, and delivers each event to each hook at least once and in order', async () => {
  const figures = await chaos(3, [builtProgram]);
  assert.ok(figures.writes > 0);
  assert.ok(figures.events >= figures.writes, 'a write may have been stored without its response');
  assert.ok(figures.requests >= figures.deliveries);
});

test.run();
