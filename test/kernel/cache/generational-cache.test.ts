import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CacheBudget } from '../../../src/kernel/cache/generational-cache.ts';

const test = suite('generational cache');

test('caches with a shared budget drop unused values together', () => {
  const budget = new CacheBudget(20);
  const numbers = budget.cache<string, number>((value) => value);
  const texts = budget.cache<string, string>(({ length }) => length);
  numbers.set('asked', 3);
  numbers.set('not asked', 3);
  texts.set('text', '12345');
  assert.is(numbers.get('asked'), 3);
  texts.set('other', '12345678');
  assert.is(numbers.get('not asked'), undefined);
  assert.is(numbers.get('asked'), 3);
  assert.is(texts.get('other'), '12345678');
});

test('replaced and deleted values release their size, and growth counts', () => {
  const budget = new CacheBudget(20);
  const cache = budget.cache<string, { size: number }>(({ size }) => size);
  const first = { size: 4 };
  for (let i = 0; i < 10; i += 1) cache.set('replaced', { size: 5 });
  cache.delete('replaced');
  assert.is(cache.get('replaced'), undefined);
  cache.set('first', first);
  cache.set('second', { size: 4 });
  first.size += 4;
  cache.recordGrowth('first', first, 4);
  cache.set('third', { size: 9 });
  cache.set('fourth', { size: 2 });
  assert.is(cache.get('second'), undefined);
  assert.is(cache.get('third')?.size, 9);
});

test('a cleared cache is empty', () => {
  const cache = new CacheBudget(4).cache<string, number>(() => 1);
  for (const key of ['a', 'b', 'c']) cache.set(key, 1);
  cache.clear();
  assert.is(cache.get('a'), undefined);
  assert.is(cache.get('c'), undefined);
});

test.run();
