/** When scheduled backups are due, and which ones are retained. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keptInstants, parseRetention } from '../../../src/app/backup/retention.ts';
import { intervalOf, lastDue, parseSchedule } from '../../../src/app/backup/schedule.ts';

const test = suite('schedule of backups');
const at = (text: string): number => Date.parse(text) * 1000;
const last = (schedule: string, now: string): string | undefined => {
  const due = lastDue(parseSchedule(schedule), at(now));
  return due === undefined ? undefined : new Date(due / 1000).toISOString().replace('.000Z', 'Z');
};

test('a time of day is due once a day, in UTC', () => {
  assert.is(last('03:15', '2026-01-05T03:14:59Z'), '2026-01-04T03:15:00Z');
  assert.is(last('03:15', '2026-01-05T03:15:00Z'), '2026-01-05T03:15:00Z');
  assert.is(intervalOf(parseSchedule('03:15'), at('2026-01-05T12:00:00Z')), 24 * 3600e6);
});

test('the fields of crontab have numbers, lists, ranges and steps', () => {
  assert.is(last('*/20 * * * *', '2026-01-05T03:59:00Z'), '2026-01-05T03:40:00Z');
  assert.is(last('5,10-12 6 * * *', '2026-01-05T23:00:00Z'), '2026-01-05T06:12:00Z');
  assert.is(last('0 0 1 * *', '2026-01-31T00:00:00Z'), '2026-01-01T00:00:00Z');
  assert.is(last('0 4 * * 0', '2026-01-05T00:00:00Z'), '2026-01-04T04:00:00Z');
  assert.is(last('0 4 * * 7', '2026-01-05T00:00:00Z'), '2026-01-04T04:00:00Z', '7 is Sunday, too');
  assert.is(last('0 0 13 * 5', '2026-01-08T00:00:00Z'), '2026-01-02T00:00:00Z', 'either day, if both are restricted');
  assert.is(last('0 0 29 2 *', '2026-01-01T00:00:00Z'), '2024-02-29T00:00:00Z');
  assert.is(last('0 0 29 2 *', '2027-01-01T00:00:00Z'), '2024-02-29T00:00:00Z');
  assert.is(intervalOf(parseSchedule('0 */6 * * *'), at('2026-01-05T12:30:00Z')), 6 * 3600e6);
});

test('the interval of an irregular schedule covers the pause in progress', () => {
  const hours = (schedule: string, now: string): number => intervalOf(parseSchedule(schedule), at(now)) / 3600e6;
  assert.is(hours('0 3 * * 1-5', '2026-01-04T12:00:00Z'), 72, 'Sunday');
  assert.is(hours('0 3 * * 1-5', '2026-01-06T12:00:00Z'), 24, 'Tuesday');
  assert.is(hours('0 8-18 * * *', '2026-01-04T21:00:00Z'), 14, 'night');
  assert.is(hours('0 8-18 * * *', '2026-01-04T12:30:00Z'), 1, 'noon');
  assert.is(hours('0 3 1 1,2 *', '2026-01-05T00:00:00Z'), (365 - 31) * 24);
});

test('rejects other schedules with the field and the rule', () => {
  const message = (text: string): string => {
    try {
      parseSchedule(text);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.is(message('daily'), 'must be HH:MM or the five fields of crontab');
  assert.is(message('24:00'), 'has the hour 24, which must be numbers from 0 to 23');
  assert.is(message('60 * * * *'), 'has the minute 60, which must be numbers from 0 to 59');
  assert.is(message('* * 0 * *'), 'has the day of the month 0, which must be numbers from 1 to 31');
  assert.is(message('* * * JAN *'), 'has the month JAN, which must be numbers from 1 to 12');
  assert.is(message('5-1 * * * *'), 'has the minute 5-1, which must be numbers from 0 to 59');
  assert.is(message('0 0 31 2,4 *'), 'is never due: 0 0 31 2,4 *');
  assert.is(message('*/0 * * * *'), 'has the minute */0, which must be numbers from 0 to 59');
});

test('the retention keeps the newest of each day, ISO week and month that has one', () => {
  const times = [
    ...['2026-01-31T03:00Z', '2026-01-31T15:00Z', '2026-02-01T03:00Z', '2026-02-02T03:00Z', '2026-02-10T03:00Z'],
    ...['2026-02-11T03:00Z', '2026-02-11T09:00Z', '2026-02-12T03:00Z'],
  ];
  const kept = (rule: string): string[] => {
    const instants = keptInstants(
      times.map((time) => Date.parse(time)),
      parseRetention(rule),
    );
    return times.filter((time) => instants.has(Date.parse(time)));
  };
  assert.equal(kept('2d'), ['2026-02-11T09:00Z', '2026-02-12T03:00Z']);
  assert.equal(kept('2w'), ['2026-02-02T03:00Z', '2026-02-12T03:00Z']);
  assert.equal(kept('3w'), ['2026-02-01T03:00Z', '2026-02-02T03:00Z', '2026-02-12T03:00Z']);
  assert.equal(kept('1d,9m'), ['2026-01-31T15:00Z', '2026-02-12T03:00Z']);
  assert.throws(() => parseRetention('7'), /must be numbers of days, weeks and months, such as 7d,4w,6m/);
  assert.throws(() => parseRetention('0d'), /must keep at least one backup/);
});

test.run();
