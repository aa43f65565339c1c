import { day, hour, minute } from '../../kernel/clock.ts';

/** A schedule in UTC, with a resolution of minutes. */
interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Whether a day matches by its number or its weekday, as in crontab when both are restricted. */
  readonly isEitherDay: boolean;
}

const ranges = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12 },
  { name: 'day of the week', from: 0, to: 7 },
] as const;

/** Parses `HH:MM`, or the five fields of crontab with numbers, lists, ranges and steps. Throws a readable error. */
export function parseSchedule(text: string): Schedule {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? [];
  const fields = (hours === undefined ? text : `${minutes} ${hours} * * *`).trim().split(/\s+/);
  if (fields.length !== ranges.length) throw new Error('must be HH:MM or the five fields of crontab');
  const [minuteSet, hourSet, daySet, monthSet, weekdaySet] = ranges.map((range, i) =>
    parseField(fields[i] ?? '', range),
  );
  const weekdays = new Set([...(weekdaySet ?? [])].map((number) => number % 7));
  const schedule: Schedule = {
    minutes: minuteSet ?? new Set(),
    hours: hourSet ?? new Set(),
    days: daySet ?? new Set(),
    months: monthSet ?? new Set(),
    weekdays,
    isEitherDay: fields[2] !== '*' && fields[4] !== '*',
  };
  if (lastDue(schedule, afterLeapDay) === undefined) throw new Error(`is never due: ${text}`);
  return schedule;
}

function parseField(text: string, { from, name, to }: (typeof ranges)[number]): Set<number> {
  const numbers = new Set<number>();
  for (const part of text.split(',')) {
    const [, all, first, last, step = '1'] = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part) ?? [];
    const start = all ? from : Number(first ?? Number.NaN);
    const end = all || (last === undefined && part.includes('/')) ? to : Number(last ?? first);
    if (!(start >= from && end <= to && start <= end && Number(step) > 0))
      throw new Error(`has the ${name} ${part}, which must be numbers from ${from} to ${to}`);
    for (let number = start; number <= end; number += Number(step)) numbers.add(number);
  }
  return numbers;
}

/** Number of days to search: 29 February occurs every four years. */
const maxDays = 4 * 366 + 1;

/** The days before this instant contain every date of a calendar. */
const afterLeapDay = Date.UTC(2024, 2, 1) * 1000;

/** Returns the last scheduled instant at or before `now`; undefined if there is none in four years. */
export function lastDue(schedule: Schedule, now: number): number | undefined {
  for (let start = now - (now % day), i = 0; i < maxDays; start -= day, i++) {
    const last = Math.max(...instantsOn(schedule, start).filter((at) => at <= now));
    if (Number.isFinite(last)) return last;
  }
  return undefined;
}

/** Returns the first scheduled instant after `now`; undefined if there is none in four years. */
function nextDue(schedule: Schedule, now: number): number | undefined {
  for (let start = now - (now % day), i = 0; i < maxDays; start += day, i++) {
    const next = Math.min(...instantsOn(schedule, start).filter((at) => at > now));
    if (Number.isFinite(next)) return next;
  }
  return undefined;
}

/** Returns the scheduled instants of the day that begins at `start`. */
const instantsOn = (schedule: Schedule, start: number): number[] =>
  isDueDay(schedule, start)
    ? [...schedule.hours].flatMap((hours) =>
        [...schedule.minutes].map((minutes) => start + hours * hour + minutes * minute),
      )
    : [];

function isDueDay({ days, isEitherDay, months, weekdays }: Schedule, start: number): boolean {
  const date = new Date(start / 1000);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/**
 * Returns the time between two scheduled instants: the last two, or the last one and the next one if that is longer. Otherwise
 * each weekend would be too long for a schedule on weekdays.
 */
export function intervalOf(schedule: Schedule, now: number): number {
  const last = lastDue(schedule, now);
  if (last === undefined) return day;
  const [before, next] = [lastDue(schedule, last - minute), nextDue(schedule, last)];
  return Math.max(before === undefined ? 0 : last - before, next === undefined ? 0 : next - last) || day;
}
