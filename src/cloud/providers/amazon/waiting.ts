import * as v from 'valibot';
import type { DriverCall, PlainValues, Step } from '../../catalogue/driver.ts';

/* Operations that take their time at the vendor: they are looked at again and again (providers.md 6.5). */

/** Where the object of a call is, and its id there. */
export const regionOf = ({ values }: DriverCall): string => String(values.region);
export const idOf = ({ values }: DriverCall): string => String(values.backend_id);

/** Milliseconds between two looks. */
export const period = 5000;

/** So many looks may miss what has just been made: the vendor's lists do not know it at once. */
const maxMisses = 12;

const memoSchema = v.object({ misses: v.optional(v.number(), 0) });

/** A further look is needed. */
export const again = (memo: PlainValues, values?: PlainValues): Step => ({
  kind: 'wait',
  milliseconds: period,
  memo,
  ...(values && { values }),
});

/** The next sub-step follows at once. */
export const further = (memo: PlainValues): Step => ({ kind: 'wait', milliseconds: 0, memo });

/** The step after a look that missed what has just been made. */
export function missed(memo: PlainValues): Step {
  const { misses } = v.parse(memoSchema, memo);
  return misses < maxMisses
    ? again({ ...memo, misses: misses + 1 })
    : { kind: 'fail', text: 'Does not exist at backend.', values: { backend_id: '', runtime_state: '' } };
}
