import * as v from 'valibot';
import type { DriverCall, PlainValues, RowChange, Step } from '../catalogue/driver.ts';
import { ProviderError } from '../catalogue/provider-error.ts';
import { idempotentCall } from './idempotency.ts';

/*
 * Operations in several stages (providers.md 2 "Memo"), written as they follow each other. The memo holds what each stage
 * came to: a call after a pause, or of another process, goes through the finished ones without asking the provider.
 */

/** Thrown to end one call of the driver: with the step that it came to. */
class Pause {
  constructor(readonly step: Step) {}
}

/** What the row and others get while an operation waits. */
export interface RowUpdates {
  readonly values?: PlainValues;
  readonly changes?: readonly RowChange[];
}

/** Something with an id of its own that must not be made twice. */
export interface Unique {
  /** Asks for it; answers its id at the provider. */
  readonly ask: () => Promise<string>;
  /** Looks for what an earlier call without an answer may have made; answers its id. */
  readonly find: () => Promise<string | undefined>;
  /** What is stored together with its id. */
  readonly updates?: (id: string) => RowUpdates;
}

/** Milliseconds between two looks at what a provider is busy with. */
const period = 1000;

/** One operation under way. */
export class Flow {
  #memo: PlainValues;

  constructor(readonly call: DriverCall) {
    this.#memo = call.memo;
  }

  /** What a stage has come to, or undefined as long as it has not. */
  reached(stage: string): unknown {
    return this.#memo[stage];
  }

  /** Makes something; answers its id. The id is stored before anything else is asked of the provider. */
  async unique(stage: string, { ask, find, updates }: Unique): Promise<string> {
    const known = this.#memo[stage];
    if (typeof known === 'string') return known;
    const accepted = (id: string) => ({ memo: { [stage]: id }, ...updates?.(id) });
    const step = await idempotentCall(
      { ...this.call, memo: this.#memo },
      {
        ask: async () => accepted(await ask()),
        find: async () => {
          const id = await find();
          return id === undefined ? undefined : accepted(id);
        },
        firstPollMs: 0,
      },
    );
    throw new Pause(step);
  }

  /** Does what may be done twice, though not again once it is known to be done; answers what it came to. */
  async once<T>(stage: string, schema: v.GenericSchema<unknown, T>, work: () => Promise<T>): Promise<T> {
    const known = this.#memo[stage];
    if (known !== undefined) return v.parse(schema, known);
    const result = await work();
    this.#memo = { ...this.#memo, [stage]: result };
    return result;
  }

  /** The same of what came to a text. */
  note(stage: string, work: () => Promise<string>): Promise<string> {
    return this.once(stage, v.string(), work);
  }

  /** The same where nothing is to be remembered but that it is done. */
  async ensure(stage: string, work: () => Promise<unknown>): Promise<void> {
    await this.once(stage, v.literal(true), async () => {
      await work();
      return true as const;
    });
  }

  /** Looks at the provider until it has done what it was asked for; what is told meanwhile is stored. */
  async until(stage: string, look: () => Promise<'over' | RowUpdates>): Promise<void> {
    if (this.#memo[stage] === true) return;
    const existing = await look();
    if (existing !== 'over') this.pause(existing, period);
    this.#memo = { ...this.#memo, [stage]: true };
  }

  /** Ends this call of the driver; the next one comes here again. */
  pause(updates: RowUpdates, milliseconds: number): never {
    throw new Pause({ kind: 'wait', milliseconds, isImmediate: milliseconds === 0, memo: this.#memo, ...updates });
  }

  /** Has what is remembered so far stored before anything else is done. */
  store(stage: string): void {
    if (this.#memo[stage] === true) return;
    this.#memo = { ...this.#memo, [stage]: true };
    this.pause({}, 0);
  }

  /** Gives an order that must not be given twice and has no id; `isBegun` tells whether it is being carried out. */
  async order(stage: string, give: () => Promise<unknown>, isBegun: () => Promise<boolean>): Promise<void> {
    const given = 'given';
    await this.unique(stage, {
      ask: async () => {
        await give();
        return given;
      },
      find: async () => ((await isBegun()) ? given : undefined),
    });
  }

  /** Does the work; where it fails for good, tidies up before the failure is told. */
  async tidied(work: () => Promise<RowUpdates>, tidy: () => Promise<unknown>): Promise<RowUpdates> {
    try {
      return await work();
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (!failure) throw thrown;
      await tidy();
      return this.fail(failure.text, failure);
    }
  }

  /** Ends the operation as failed. */
  fail(text: string, { changes, values }: RowUpdates = {}): never {
    throw new Pause({ kind: 'fail', text, ...(values && { values }), ...(changes && { changes }) });
  }
}

/** The failure that ends an operation; undefined of what is repeated, or no failure. */
function failureOf(thrown: unknown): (RowUpdates & { readonly text: string }) | undefined {
  if (thrown instanceof Pause) return thrown.step.kind === 'fail' ? thrown.step : undefined;
  const isFinal = thrown instanceof ProviderError && !['unavailable', 'limited'].includes(thrown.type);
  return isFinal ? { text: thrown.message } : undefined;
}

/** One call of an operation that consists of stages; `play` answers what it comes to when all of them are over. */
export async function runFlow(call: DriverCall, play: (flow: Flow) => Promise<RowUpdates>): Promise<Step> {
  try {
    return { kind: 'done', ...(await play(new Flow(call))) };
  } catch (thrown) {
    if (thrown instanceof Pause) return thrown.step;
    throw thrown;
  }
}
