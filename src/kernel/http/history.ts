import { invalid, invalidRequest } from './error.ts';
import { bodyListRule, type Query } from './query.ts';

const maxPoints = 1000;
const latest = 253_402_300_799;
const usage = '(Either "point" or "start" + "end" + "points_count" parameters have to be provided).';

/**
 * Returns the points of a history in UNIX seconds (events.md 2.5): those in `point`, in order, or `points_count` points spread
 * evenly from `start` to `end`. Throws 400.
 */
export function historyPoints(query: Query): number[] {
  const points = query.all('point', bodyListRule);
  const [start, end, count] = ['start', 'end', 'points_count'].map((name) => query.all(name).at(-1));
  const hasRange = start !== undefined || end !== undefined || count !== undefined;
  if (points.length > 0 && hasRange) throw invalidRequest(`Too many parameters for historical data. ${usage}`);
  if (points.length > 0) return parsePoints(points);
  if (start === undefined || end === undefined || count === undefined) {
    throw invalidRequest(`Not enough parameters for historical data. ${usage}`);
  }
  return evenlySpaced(start, end, count);
}

function parsePoints(points: readonly string[]): number[] {
  const wrong = points.filter((point) => !isTimestamp(point));
  if (wrong.length > 0) throw invalid({ point: wrong.map(notTimestamp) });
  return points.map(Number);
}

function evenlySpaced(start: string, end: string, count: string): number[] {
  const errors: Record<string, string[]> = {};
  if (!isTimestamp(start)) errors.start = [notTimestamp(start)];
  if (!isTimestamp(end)) errors.end = [notTimestamp(end)];
  if (!/^[+-]?\d+$/.test(count)) errors.points_count = ['A valid integer is required.'];
  else if (Number(count) < 2) errors.points_count = ['Ensure this value is greater than or equal to 2.'];
  else if (Number(count) > maxPoints)
    errors.points_count = [`Ensure this value is less than or equal to ${maxPoints}.`];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const [from, to, size] = [Number(start), Number(end), Number(count)];
  if (from >= to) throw invalidRequest('Start timestamp has to be earlier than end timestamp.');
  return Array.from({ length: size }, (_, i) => from + Math.floor((i * (to - from)) / (size - 1)));
}

const isTimestamp = (text: string): boolean => /^\d{1,12}$/.test(text) && Number(text) <= latest;
const notTimestamp = (text: string): string => `Value "${text}" should be valid UNIX timestamp.`;
