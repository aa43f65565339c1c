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
  readonly send: () => Promise<Accepted>;
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
const settlingMs = 5000;
/** Maximum delay if the provider requests a longer one. */
const maxPauseMs = 5 * 60_000;
const maxLostCalls = 4;

/**
 * Sends a request once (providers.md 2 "Unknown outcome"). If a call got no response or the process ended, looks for its effect
 * and repeats the call only if there is none. The memo then has the accepted request, from which the caller continues.
 */
export async function idempotentCall(
  { isRepeated, memo }: DriverCall,
  { find, firstPollMs, send }: IdempotentRequest,
): Promise<Step> {
  const { failure = 'Backend does not respond', isInDoubt = false, lost = 0 }: UncertainState = memo;
  const accepted = (result: Accepted): Step => ({
    kind: 'wait',
    milliseconds: firstPollMs,
    ...(firstPollMs === 0 && { isImmediate: true }),
    // The outcome is known now; the next request starts with a clean state.
    memo: { ...memo, lost: undefined, isInDoubt: undefined, failure: undefined, ...result.memo },
    ...(result.values && { values: result.values }),
    ...(result.changes && { changes: result.changes }),
  });
  const inDoubt = (text: string, requestedMs = 0): Step => ({
    kind: 'wait',
    milliseconds: Math.max(settlingMs, Math.min(requestedMs, maxPauseMs)),
    memo: { ...memo, lost: lost + 1, isInDoubt: true, failure: text },
  });
  if (isInDoubt) {
    const existing = await find();
    if (existing) return accepted(existing);
    if (lost >= maxLostCalls) return { kind: 'fail', text: failure };
    return { kind: 'wait', milliseconds: 0, memo: { ...memo, isInDoubt: false } };
  }
  if (isRepeated) return inDoubt(failure);
  try {
    return accepted(await send());
  } catch (error) {
    if (error instanceof ProviderError && (error.type === 'unavailable' || error.type === 'malformed'))
      return inDoubt(error.message, error.retryAfter);
    throw error;
  }
}
