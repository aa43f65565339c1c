/** The only source of time. */
import { settableClock } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, hour, isoTime, minute, second, systemClock } from '../../src/kernel/clock.ts';

const clocks = suite('clock');

clocks('instants are whole microseconds since 1970', () => {
  assert.equal([second, minute, hour, day], [1e6, 60e6, 3600e6, 86_400e6]);
  const [before, now, after] = [Date.now() * 1000, systemClock.now(), Date.now() * 1000];
  assert.ok(Number.isSafeInteger(now) && before <= now && now <= after);
});

clocks('a settable clock stands still until it is advanced', () => {
  const clock = settableClock('2018-01-05T04:47:04Z');
  const start = clock.now();
  assert.is(start, Date.UTC(2018, 0, 5, 4, 47, 4) * 1000);
  clock.advance(1.5);
  assert.is(clock.now(), start + 1_500_000);
  clock.advance(-1.5);
  assert.is(clock.now(), start);
  clock.set(new Date(5));
  assert.is(clock.now(), 5000);
  clock.set(7);
  assert.is(clock.now(), 7);
});

clocks('rejects a text that is not an instant', () => {
  for (const value of ['tomorrow', Number.NaN, 1.5, Number.POSITIVE_INFINITY])
    assert.throws(() => settableClock(value), /^not an instant: /);
});

clocks('formats an instant in UTC, with as many fraction digits as necessary', () => {
  const texts: [number, string][] = [
    [0, '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T00:00:00.000001Z'],
    [-1, '1969-12-31T23:59:59.999999Z'],
    [Date.UTC(2017, 0, 19) * 1000, '2017-01-19T00:00:00Z'],
    [Date.UTC(2017, 0, 19, 23, 59, 59) * 1000 + 500_000, '2017-01-19T23:59:59.5Z'],
  ];
  for (const [instant, text] of texts) assert.is(isoTime(instant), text);
});

clocks.run();
