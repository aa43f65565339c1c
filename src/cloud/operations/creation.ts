import * as v from 'valibot';
import type { DriverCall, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { idempotentCall } from './idempotency.ts';

/** Creates an object at a provider without idempotency keys. Ids are the provider's. */
export interface Creation {
  /** Existing objects that could be mistaken for the new one. */
  readonly before: () => Promise<readonly string[]>;
  /** Requests the object. Returns its id. */
  readonly make: () => Promise<string>;
  /** The object that an earlier call without a response created, if any; ignores those in `before`. */
  readonly find: (before: readonly string[]) => Promise<string | undefined>;
  /** The step for a created object. */
  readonly follow: (id: string) => Promise<Step>;
}

const memoSchema = v.object({ before: v.optional(v.array(v.string())), made: v.optional(v.string()) });

/** Creates an object once: stores its id in the row and the memo before the next request (providers.md 2 "Memo"). */
export async function createOnce(call: DriverCall, { before, find, follow, make }: Creation): Promise<Step> {
  const { before: seen, made: created } = v.parse(memoSchema, call.memo);
  if (created !== undefined) return follow(created);
  if (seen === undefined) return { kind: 'wait', milliseconds: 0, memo: { ...call.memo, before: await before() } };
  const accepted = (id: string) => ({ memo: { made: id }, values: { backend_id: id } });
  return idempotentCall(call, {
    send: async () => accepted(await make()),
    find: async () => {
      const existing = await find(seen);
      return existing === undefined ? undefined : accepted(existing);
    },
    firstPollMs: 0,
  });
}

/**
 * Finds or creates an object that several operations share, such as a key. If the creation conflicts because another operation was
 * faster, looks again.
 */
export async function findOrCreate<T>(find: () => Promise<T | undefined>, put: () => Promise<T>): Promise<T> {
  const known = await find();
  if (known !== undefined) return known;
  try {
    return await put();
  } catch (error) {
    const isRejected = error instanceof ProviderError && (error.type === 'invalid' || error.type === 'conflict');
    const existing = isRejected ? await find() : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
}
