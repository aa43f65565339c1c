import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Allowance } from '../../../src/kernel/cache/lately.ts';

const test = suite('What was asked for lately');

test('maps that share an allowance forget together what was not asked for since the last time', () => {
  const allowance = new Allowance(20);
  const numbers = allowance.map<string, number>((value) => value);
  const texts = allowance.map<string, string>(({ length }) => length);
  numbers.set('asked', 3);
  numbers.set('not asked', 3);
  texts.set('text', '12345');
  assert.is(numbers.get('asked'), 3);
  texts.set('other', '12345678');
  assert.is(numbers.get('not asked'), undefined);
  assert.is(numbers.get('asked'), 3);
  assert.is(texts.get('other'), '12345678');
});

test('what is replaced or deleted weighs nothing, and what has grown weighs more', () => {
  const allowance = new Allowance(20);
  const map = allowance.map<string, { weight: number }>(({ weight }) => weight);
  const first = { weight: 4 };
  for (let i = 0; i < 10; i += 1) map.set('replaced', { weight: 5 });
  map.delete('replaced');
  assert.is(map.get('replaced'), undefined);
  map.set('first', first);
  map.set('second', { weight: 4 });
  first.weight += 4;
  map.grown('first', first, 4);
  map.set('third', { weight: 9 });
  map.set('fourth', { weight: 2 });
  assert.is(map.get('second'), undefined);
  assert.is(map.get('third')?.weight, 9);
});

test('a map that is cleared, has nothing', () => {
  const map = new Allowance(4).map<string, number>(() => 1);
  for (const key of ['a', 'b', 'c']) map.set(key, 1);
  map.clear();
  assert.is(map.get('a'), undefined);
  assert.is(map.get('c'), undefined);
});

test.run();
