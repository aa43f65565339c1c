import * as v from 'valibot';
import type { DriverCall, PlainValues, Step } from '../../catalogue/driver.ts';

/* Polling of operations that the vendor runs in the background (providers.md 6.5). */

/** Region of a call's object, and its id at the provider. */
export const regionOf = ({ values }: DriverCall): string => String(values.region);
export const idOf = ({ values }: DriverCall): string => String(values.backend_id);

/** Milliseconds between two polls. */
export const period = 5000;

/** How many polls may miss a new object: the vendor's lists are eventually consistent. */
const maxMisses = 12;

const memoSchema = v.object({ misses: v.optional(v.number(), 0) });

/** Polls again after the period. */
export const pollAgain = (memo: PlainValues, values?: PlainValues): Step => ({
  kind: 'wait',
  milliseconds: period,
  memo,
  ...(values && { values }),
});

/** Continues with the next step immediately. */
export const continueWith = (memo: PlainValues): Step => ({ kind: 'wait', milliseconds: 0, memo });

/** The step after a poll that missed a new object. */
export function pollMissed(memo: PlainValues): Step {
  const { misses } = v.parse(memoSchema, memo);
  return misses < maxMisses
    ? pollAgain({ ...memo, misses: misses + 1 })
    : { kind: 'fail', text: 'Does not exist at backend.', values: { backend_id: '', runtime_state: '' } };
}
