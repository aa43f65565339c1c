import type { DriverCall, PlainValues, RowChange, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';

/** What a provider accepted: what is remembered of it (its ids), and values the row gets at once. */
export interface Accepted {
  readonly memo: PlainValues;
  readonly values?: PlainValues;
  /** What becomes of other rows at once. */
  readonly changes?: readonly RowChange[];
}

/** Something that a provider must not do twice. */
export interface IdempotentRequest {
  /** Asks for it. */
  readonly ask: () => Promise<Accepted>;
  /** Looks for what an earlier call without an answer may have brought about. */
  readonly find: () => Promise<Accepted | undefined>;
  /** Milliseconds until the first look at what was accepted; 0: the operation goes on. */
  readonly firstPollMs: number;
}

/** What the memo keeps besides: calls that got no answer, and whether the last of them is still to be looked for. */
interface UncertainState {
  readonly lost?: number;
  readonly isInDoubt?: boolean;
  /** Why the last one got no answer. */
  readonly failure?: string;
}

/** Milliseconds that a provider gets to finish what it may have been asked for, before it is looked for. */
const settling = 5000;
/** Milliseconds that it gets at most where it asks for more. */
const maxPauseMs = 5 * 60_000;
const maxCalls = 4;

/**
 * Asks a provider for something once (providers.md 2 "Unknown outcome"). After a call that may or may not have reached it,
 * because it got no answer or the process ended, what it may have brought about is looked for, and only when there is
 * nothing it is asked for again. The memo then holds what was accepted; the caller goes on by it.
 */
export async function idempotentCall(
  { isRepeated, memo }: DriverCall,
  { ask, find, firstPollMs }: IdempotentRequest,
): Promise<Step> {
  const { failure = 'Backend does not respond', isInDoubt = false, lost = 0 }: UncertainState = memo;
  const accepted = (what: Accepted): Step => ({
    kind: 'wait',
    milliseconds: firstPollMs,
    ...(firstPollMs === 0 && { isImmediate: true }),
    // What was in doubt is so no more: what is asked for next begins anew.
    memo: { ...memo, lost: undefined, isInDoubt: undefined, failure: undefined, ...what.memo },
    ...(what.values && { values: what.values }),
    ...(what.changes && { changes: what.changes }),
  });
  const doubt = (text: string, asked = 0): Step => ({
    kind: 'wait',
    milliseconds: Math.max(settling, Math.min(asked, maxPauseMs)),
    memo: { ...memo, lost: lost + 1, isInDoubt: true, failure: text },
  });
  if (isInDoubt) {
    const existing = await find();
    if (existing) return accepted(existing);
    if (lost >= maxCalls) return { kind: 'fail', text: failure };
    return { kind: 'wait', milliseconds: 0, memo: { ...memo, isInDoubt: false } };
  }
  if (isRepeated) return doubt(failure);
  try {
    return accepted(await ask());
  } catch (error) {
    if (error instanceof ProviderError && (error.type === 'unavailable' || error.type === 'malformed'))
      return doubt(error.message, error.retryAfter);
    throw error;
  }
}
