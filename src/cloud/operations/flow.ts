import * as v from 'valibot';
import type { DriverCall, PlainValues, RowChange, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { idempotentCall } from './idempotency.ts';

/*
 * Operations in several stages (providers.md 2 "Memo"), written as sequential code. The memo stores the result of each stage: a call
 * after a pause or a restart runs through the finished stages without calling the provider.
 */

/** Thrown to end one call of the driver with a step. */
class Pause {
  constructor(readonly step: Step) {}
}

/** Values for the row of an operation, and changes of other rows. */
export interface RowUpdates {
  readonly values?: PlainValues;
  readonly changes?: readonly RowChange[];
}

/** How to create an object that must not be created twice. */
interface Unique {
  /** Requests the object. Returns its id at the provider. */
  readonly create: () => Promise<string>;
  /** Returns the id of the object that an earlier call without a response may have created. */
  readonly find: () => Promise<string | undefined>;
  /** Updates to store together with its id. */
  readonly updates?: (id: string) => RowUpdates;
}

/** Milliseconds between two polls. */
const pollMs = 1000;

/** One running operation. */
export class Flow {
  #memo: PlainValues;

  constructor(readonly call: DriverCall) {
    this.#memo = call.memo;
  }

  /** The result of a stage, or undefined if it has not finished. */
  resultOf(stage: string): unknown {
    return this.#memo[stage];
  }

  /** Creates an object. Returns its id, which is stored before the next request. */
  async createOnce(stage: string, { create, find, updates }: Unique): Promise<string> {
    const known = this.#memo[stage];
    if (typeof known === 'string') return known;
    const accepted = (id: string) => ({ memo: { [stage]: id }, ...updates?.(id) });
    const step = await idempotentCall(
      { ...this.call, memo: this.#memo },
      {
        send: async () => accepted(await create()),
        find: async () => {
          const id = await find();
          return id === undefined ? undefined : accepted(id);
        },
        firstPollMs: 0,
      },
    );
    throw new Pause(step);
  }

  /** Runs idempotent work until it has succeeded once. Returns its result. */
  async once<T>(stage: string, schema: v.GenericSchema<unknown, T>, work: () => Promise<T>): Promise<T> {
    const known = this.#memo[stage];
    if (known !== undefined) return v.parse(schema, known);
    const result = await work();
    this.#memo = { ...this.#memo, [stage]: result };
    return result;
  }

  /** The same for a text result. */
  onceForText(stage: string, work: () => Promise<string>): Promise<string> {
    return this.once(stage, v.string(), work);
  }

  /** The same without a result. */
  async ensure(stage: string, work: () => Promise<unknown>): Promise<void> {
    await this.once(stage, v.literal(true), async () => {
      await work();
      return true as const;
    });
  }

  /** Polls the provider until a request is done, and stores updates meanwhile. */
  async until(stage: string, poll: () => Promise<'done' | RowUpdates>): Promise<void> {
    if (this.#memo[stage] === true) return;
    const polled = await poll();
    if (polled !== 'done') this.pause(polled, pollMs);
    this.#memo = { ...this.#memo, [stage]: true };
  }

  /** Ends this call of the driver; the next call resumes here. */
  pause(updates: RowUpdates, milliseconds: number): never {
    throw new Pause({ kind: 'wait', milliseconds, isImmediate: milliseconds === 0, memo: this.#memo, ...updates });
  }

  /** Stores the memo before continuing. */
  checkpoint(stage: string): void {
    if (this.#memo[stage] === true) return;
    this.#memo = { ...this.#memo, [stage]: true };
    this.pause({}, 0);
  }

  /** Sends a request that must not be repeated and returns no id; `isBegun` checks whether the provider has begun it. */
  async sendOnce(stage: string, send: () => Promise<unknown>, isBegun: () => Promise<boolean>): Promise<void> {
    // Stored in memos of operations that were running during an upgrade.
    const marker = 'given';
    await this.createOnce(stage, {
      create: async () => {
        await send();
        return marker;
      },
      find: async () => ((await isBegun()) ? marker : undefined),
    });
  }

  /** Runs the work. If it fails permanently, cleans up and then fails. */
  async withCleanup(work: () => Promise<RowUpdates>, cleanUp: () => Promise<unknown>): Promise<RowUpdates> {
    try {
      return await work();
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (!failure) throw thrown;
      await cleanUp();
      return this.fail(failure.text, failure);
    }
  }

  /** Fails the operation. */
  fail(text: string, { changes, values }: RowUpdates = {}): never {
    throw new Pause({ kind: 'fail', text, ...(values && { values }), ...(changes && { changes }) });
  }
}

/** The failure that ends an operation; undefined if the call is retried or has not failed. */
function failureOf(thrown: unknown): (RowUpdates & { readonly text: string }) | undefined {
  if (thrown instanceof Pause) return thrown.step.kind === 'fail' ? thrown.step : undefined;
  const isFinal = thrown instanceof ProviderError && !['unavailable', 'limited'].includes(thrown.type);
  return isFinal ? { text: thrown.message } : undefined;
}

/** Runs one call of a staged operation; `work` returns the final updates. */
export async function runFlow(call: DriverCall, work: (flow: Flow) => Promise<RowUpdates>): Promise<Step> {
  try {
    return { kind: 'done', ...(await work(new Flow(call))) };
  } catch (thrown) {
    if (thrown instanceof Pause) return thrown.step;
    throw thrown;
  }
}
