import type { DriverCall, PlainValues, RowChange, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';

/** An accepted request: memo entries such as ids, and values to store immediately. */
export interface Accepted {
  readonly memo: PlainValues;
  readonly values?: PlainValues;
  /** Immediate changes of other rows. */
  readonly changes?: readonly RowChange[];
}

/** A request that a provider must not execute twice. */
interface IdempotentRequest {
  /** Sends the request. */
  readonly ask: () => Promise<Accepted>;
  /** Looks for the effect of an earlier call without a response. */
  readonly find: () => Promise<Accepted | undefined>;
  /** Milliseconds until the first poll after acceptance; 0: the operation continues immediately. */
  readonly firstPollMs: number;
}

/** Additional memo entries: calls without a response, and whether the effect of the last one is still unknown. */
interface UncertainState {
  readonly lost?: number;
  readonly isInDoubt?: boolean;
  /** Why the last call got no response. */
  readonly failure?: string;
}

/** Milliseconds for a provider to finish a request of unknown outcome before its effect is looked up. */
const settling = 5000;
/** Maximum of that if the provider asks for more. */
const maxPauseMs = 5 * 60_000;
const maxCalls = 4;

/**
 * Sends a request once (providers.md 2 "Unknown outcome"). If a call got no response or the process ended, looks for its effect
 * and repeats the call only if there is none. The memo then has the accepted request, from which the caller continues.
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
    // The outcome is known now; the next request starts with a clean state.
    memo: { ...memo, lost: undefined, isInDoubt: undefined, failure: undefined, ...what.memo },
    ...(what.values && { values: what.values }),
    ...(what.changes && { changes: what.changes }),
  });
  const doubt = (text: string, requested = 0): Step => ({
    kind: 'wait',
    milliseconds: Math.max(settling, Math.min(requested, maxPauseMs)),
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
