import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimit } from '../../../src/kernel/security/rate-limit.ts';

const test = suite('rate limit');

test('allows each key a number of times in a window that starts with the first', () => {
  const limit = new RateLimit(2, 60);
  assert.equal(
    [limit.denial('a', 0), limit.denial('a', 30), limit.denial('a', 45), limit.denial('b', 45)],
    [undefined, undefined, 15, undefined],
  );
  assert.equal(
    [limit.denial('a', 59), limit.denial('a', 60), limit.denial('a', 61), limit.denial('a', 62)],
    [1, undefined, undefined, 58],
  );
});

test('a clock that was set back delays no one', () => {
  const limit = new RateLimit(1, 60);
  assert.equal([limit.denial('a', 1000), limit.denial('a', 1001), limit.denial('a', 0)], [undefined, 59, undefined]);
});

test('evicts the oldest keys above the limit and keeps the newest', () => {
  const limit = new RateLimit(1, 60);
  for (let key = 0; key <= 10_000; key++) limit.denial(String(key), 0);
  assert.equal([limit.denial('10000', 1), limit.denial('0', 1)], [59, undefined]);
});

test.run();
