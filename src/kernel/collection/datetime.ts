import * as v from 'valibot';
import { exampleShape, type IsRequired, inputOf, messages, type WritableField, type Writing } from './field.ts';
import { timeValue } from './representation.ts';
import { describedAs } from './values.ts';

/** An instant in microseconds, or null. */
export function datetime(): WritableField<number | null, false>;
export function datetime<const O extends Writing<number | null>>(
  options: O,
): WritableField<number | null, IsRequired<O>>;
export function datetime(options: Writing<number | null> = {}): WritableField<number | null> {
  return {
    type: 'datetime',
    label: options.label,
    help: options.help,
    constraints: {},
    json: timeValue,
    shownIf: options.shownIf,
    shape: { type: ['string', 'null'], format: 'date-time', ...exampleShape(options) },
    input: inputOf(options, {
      schema: v.nullable(
        v.pipe(
          v.string(messages.datetime),
          // More spellings than the documented ones are understood (core.md 1.5).
          describedAs(
            'iso_timestamp',
            undefined,
            v.check((text: string) => parseDatetime(text) !== undefined, messages.datetime),
          ),
          v.transform((text) => parseDatetime(text) ?? null),
        ),
      ),
      nullable: true,
      coerce: (value) => (value === '' ? null : typeof value === 'string' ? value.trim() : value),
    }),
  };
}

const datetimePattern =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** The end of the year 9999, as near as a number comes: from 2255 on not every microsecond has one of its own. */
const lastInstant = 253_402_300_800_000_000 - 32;

/** An instant in microseconds from a text of core.md 1.4's datetime form; without a zone it is UTC. */
export function parseDatetime(text: string): number | undefined {
  const match = datetimePattern.exec(text);
  if (!match) return undefined;
  const [, year, month, date, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  const parts = {
    year: Number(year),
    month: Number(month),
    date: Number(date),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const moment = new Date(0);
  moment.setUTCFullYear(parts.year, parts.month - 1, parts.date);
  moment.setUTCHours(parts.hour, parts.minute, parts.second);
  const exists =
    moment.getUTCMonth() === parts.month - 1 &&
    moment.getUTCDate() === parts.date &&
    parts.hour < 24 &&
    parts.minute < 60 &&
    parts.second < 60;
  const offset = zoneMinutes(zone);
  if (!exists || offset === undefined) return undefined;
  const instant = moment.getTime() - offset * 60_000;
  // An offset may lead out of the years that an answer can write.
  const utcYear = new Date(instant).getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return undefined;
  return Math.min(instant * 1000 + Number(fraction.padEnd(6, '0')), lastInstant);
}

function zoneMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
