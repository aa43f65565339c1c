import * as v from 'valibot';
import type { DriverCall, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { idempotentCall } from './idempotency.ts';

/** How a provider that knows no tokens of clients is asked for a new object. Ids are the provider's. */
export interface Creation {
  /** What of that which is there could be taken for the new object. */
  readonly before: () => Promise<readonly string[]>;
  /** Asks for it; answers its id. */
  readonly make: () => Promise<string>;
  /** What an earlier call without an answer has made, told from what was there before. */
  readonly find: (before: readonly string[]) => Promise<string | undefined>;
  /** The step when it is there, or on the way. */
  readonly follow: (id: string) => Promise<Step>;
}

const memoSchema = v.object({ before: v.optional(v.array(v.string())), made: v.optional(v.string()) });

/** Makes an object once: its id is in the row and in the memo before anything else is asked (providers.md 2 "Memo"). */
export async function createOnce(call: DriverCall, { before, find, follow, make }: Creation): Promise<Step> {
  const { before: seen, made } = v.parse(memoSchema, call.memo);
  if (made !== undefined) return follow(made);
  if (seen === undefined) return { kind: 'wait', milliseconds: 0, memo: { ...call.memo, before: await before() } };
  const accepted = (id: string) => ({ memo: { made: id }, values: { backend_id: id } });
  return idempotentCall(call, {
    ask: async () => accepted(await make()),
    find: async () => {
      const existing = await find(seen);
      return existing === undefined ? undefined : accepted(existing);
    },
    firstPollMs: 0,
  });
}

/**
 * What is at the provider once for several operations, such as a key: it is looked for, and put there when it is missing. The
 * provider refuses that when another operation has put it there meanwhile.
 */
export async function putOnce<T>(find: () => Promise<T | undefined>, put: () => Promise<T>): Promise<T> {
  const known = await find();
  if (known !== undefined) return known;
  try {
    return await put();
  } catch (error) {
    const isRefused = error instanceof ProviderError && (error.type === 'invalid' || error.type === 'conflict');
    const existing = isRefused ? await find() : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
}
