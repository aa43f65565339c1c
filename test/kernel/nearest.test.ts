import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearest } from '../../src/kernel/nearest.ts';

const test = suite('the nearest known word');
const known = ['port', 'host', 'hooks_per_user', 'log_level', 'serve', 'user add'];

test('finds words with a letter missing, added, replaced or swapped with its neighbour', () => {
  assert.equal(
    ['prt', 'portt', 'pert', 'prot', 'PORT', 'hook_per_usr', 'log-level', 'serv', 'useradd'].map((word) =>
      nearest(word, known),
    ),
    ['port', 'port', 'port', 'port', 'port', 'hooks_per_user', 'log_level', 'serve', 'user add'],
  );
});

test('prefers the word with the fewest edits, then the first', () => {
  assert.is(nearest('hort', ['host', 'port', 'hort_']), 'host');
  assert.is(nearest('hosts', ['hosted', 'host', 'hosts_']), 'host');
});

test('suggests nothing for words that resemble none', () => {
  for (const word of ['', 'x', 'frobnicate', 'toString', 'p'.repeat(10_000)])
    assert.is(nearest(word, known), undefined);
});

test.run();
