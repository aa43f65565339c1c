import * as v from 'valibot';
import { parseDatetime } from '../clock.ts';
import { exampleShape, type IsRequired, inputOf, messages, type WritableField, type Writing } from './field.ts';
import { timeValue } from './representation.ts';
import { describeSchema } from './values.ts';

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
          // Accept more spellings than the documented ones (core.md 1.5).
          describeSchema(
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
