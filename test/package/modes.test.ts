/** The modes of test files, and the clock that advances on each reading. */
import { fileURLToPath } from 'node:url';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Fixture } from '../support/fixture.ts';
import { fileOf, runsOf } from '../support/runner/modes.ts';
import { type TestClock, testClock, withoutDrift } from '../support/test-clock.ts';

const test = suite('modes of test files');
const root = fileURLToPath(new URL('..', import.meta.url));
const twice = 'accounts/invitations/check.test.ts (writing twice)';
const moving = 'activity/events/stream.test.ts (on a moving clock)';

test('runs tests about time on a moving clock, too, and some files with each write executed twice', () => {
  assert.equal(runsOf(root, 'activity/events/stream.test.ts'), ['activity/events/stream.test.ts', moving]);
  assert.ok(runsOf(root, 'accounts/invitations/check.test.ts').includes(twice));
  assert.equal(fileOf(twice), { path: 'accounts/invitations/check.test.ts', env: { TENANTRY_TEST_WRITES: 'twice' } });
  assert.equal(runsOf(root, 'kernel/http/etag.test.ts'), ['kernel/http/etag.test.ts']);
  assert.equal(fileOf(moving), { path: 'activity/events/stream.test.ts', env: { TENANTRY_TEST_CLOCK: 'moving' } });
  assert.equal(fileOf('readme.test.ts'), { path: 'readme.test.ts', env: {} });
});

const start = '2018-01-05T04:47:04Z';
const micros = (instant: string): number => new Date(instant).getTime() * 1000;

function onMovingClock(use: (clock: TestClock) => void): void {
  const before = process.env.TENANTRY_TEST_CLOCK;
  process.env.TENANTRY_TEST_CLOCK = 'moving';
  try {
    use(testClock(start));
  } finally {
    if (before === undefined) delete process.env.TENANTRY_TEST_CLOCK;
    else process.env.TENANTRY_TEST_CLOCK = before;
  }
}

test('moves with each reading, by less than a second in all, and stands still when held', () =>
  onMovingClock((clock) => {
    assert.equal([clock.now(), clock.now()], [micros(start), micros(start) + 1000]);
    for (let reading = 0; reading < 10_000; reading++) clock.now();
    assert.ok(clock.now() < micros(start) + 1_000_000);
    clock.hold();
    clock.advance(60);
    assert.equal([clock.now(), clock.now()], [micros(start) + 60_000_000, micros(start) + 60_000_000]);
  }));

test('returns texts with the instants at which the clock was set', () =>
  onMovingClock((clock) => {
    clock.now();
    clock.now();
    assert.is(withoutDrift('"created":"2018-01-05T04:47:04.001Z"'), '"created":"2018-01-05T04:47:04Z"');
    assert.is(withoutDrift('"@timestamp":"2018-01-05T04:47:04.001Z"'), '"@timestamp":"2018-01-05T04:47:04.000Z"');
    // A time from a body, unrelated to a clock.
    assert.is(withoutDrift('"expires":"2018-01-05T04:47:04.5Z"'), '"expires":"2018-01-05T04:47:04.5Z"');
    assert.is(testClock(start).now(), micros(start));
  }));

/** The number of writes that a server rehearses before it runs them. */
async function rehearsals(options: ServerOptions): Promise<number> {
  const fixture = new Fixture();
  await fixture.open(options);
  try {
    const { db } = fixture.server.app;
    const trial = db.rollBack.bind(db);
    let count = 0;
    db.rollBack = (work) => {
      count += 1;
      return trial(work);
    };
    await fixture.customer('Rehearsed');
    return count;
  } finally {
    await fixture.close();
  }
}

test('ends with its file, also for a server that chooses a single check', async () => {
  process.env.TENANTRY_TEST_WRITES = 'twice';
  assert.is(await rehearsals({}), 1);
  delete process.env.TENANTRY_TEST_WRITES;
  assert.is(await rehearsals({ selfChecks: { caches: false } }), 0);
});

test.run();
