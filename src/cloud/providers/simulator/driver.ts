import * as v from 'valibot';
import type { App } from '../../../kernel/app.ts';
import { isSettable } from '../../../kernel/clock.ts';
import type { Driver, DriverCall, DriverSettings, Inventory, PlainValues, Step } from '../../catalogue/driver.ts';
import { ProviderError } from '../../catalogue/provider-error.ts';
import type { SimulatedKind } from '../../catalogue/simulation.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { type Listing, SimulatedBackend, type SimulatedObject } from './backend.ts';
import { Objects, runtime } from './objects.ts';
import { Tuning } from './tuning.ts';

/** Progress of an operation: the current step, and how often the operation has begun on this object. */
const memoSchema = v.object({ stage: v.optional(v.number(), 0), run: v.optional(v.number(), 1) });

/** Progress of a creation. Stored in jobs, so `born` keeps its name. */
const creationMemoSchema = v.object({ born: v.record(v.string(), v.unknown()), id: v.string(), ordinal: v.number() });

/** A provider inside the process (providers.md 3): realistic, deterministic by its seed, with failures on request. */
export class SimulatorDriver implements Driver {
  readonly #backend: SimulatedBackend;
  readonly #objects: Objects;
  readonly #tuning: Tuning;

  constructor(
    private readonly app: App,
    private readonly type: ProviderType,
    private readonly settings: DriverSettings,
  ) {
    this.#backend = new SimulatedBackend(app, settings);
    this.#objects = new Objects(this.#backend, type);
    this.#tuning = new Tuning(settings.options);
  }

  /** Whether the settings are stored: a connection test has none, and nothing may refer to them. */
  get #isStored(): boolean {
    return this.settings.id !== 0;
  }

  async ping(): Promise<void> {
    await this.#simulateCall('ping');
  }

  async sync(): Promise<Inventory> {
    await this.#simulateCall('sync');
    return this.app.db.write(() => {
      if (this.#isStored) this.#objects.addUnmanaged(Number(this.settings.options.simulator_inventory ?? 0));
      const { inventory, objects } = this.#listing();
      return this.#removeVanished(objects) ? this.#listing().inventory : inventory;
    });
  }

  #listing(): Listing {
    return this.#backend.listing((objects) => this.#objects.inventory(objects));
  }

  async create(call: DriverCall): Promise<Step> {
    return this.#runOperation('create', call, {
      begin: (kind) => {
        const ordinal = this.#backend.next(`objects ${call.kind}`);
        const draw = this.#backend.draw(call.kind, ordinal);
        const requested = { ...call.values, ...call.parameters, parent: call.parent };
        return {
          ordinal,
          id: kind.id(ordinal, draw, requested),
          born: kind.initialValues?.(ordinal, requested, draw) ?? {},
        };
      },
      end: (kind, memo) => {
        const { born: initialValues, id, ordinal } = v.parse(creationMemoSchema, memo);
        const values = { ...this.#sentValues(call), ...initialValues, ...runtime(kind.final?.create) };
        this.#backend.add(call.kind, ordinal, id, values);
        return { ...initialValues, ...runtime(kind.final?.create), backend_id: id };
      },
    });
  }

  async update(call: DriverCall): Promise<Step> {
    return this.#runOperation('update', call, {
      end: () => {
        const sent = this.#sentValues(call);
        this.#backend.change(
          this.#object(call),
          this.#objects.isResource(call.kind) ? { description: sent.description, name: sent.name } : sent,
        );
        return {};
      },
    });
  }

  async delete(call: DriverCall): Promise<Step> {
    const object = this.#backend.find(call.kind, call.values.backend_id);
    if (!object) return { kind: 'done' };
    const end = () => {
      this.#backend.remove(object);
      return {};
    };
    return this.#runOperation('delete', call, { end });
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    return this.#runOperation(name, call, {
      end: (kind) => {
        const object = this.#object(call);
        const effect =
          kind.actionValues?.[name]?.(
            { ...call.values, ...object.values },
            call.parameters,
            this.#backend.draw(call.kind, object.ordinal),
          ) ?? {};
        const values = { ...effect, ...runtime(kind.final?.[name]) };
        this.#backend.change(object, values);
        return values;
      },
    });
  }

  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    await this.#simulateCall('pull', call.kind);
    const object = this.#backend.find(call.kind, call.values.backend_id);
    if (!object) return undefined;
    const { name, values } = this.#objects.described(object);
    return { ...values, ...(name !== '' && { name }) };
  }

  async deleteKey(): Promise<void> {
    // The simulated provider stores no keys.
  }

  /**
   * Runs an operation step by step: it passes through the interim runtime states within its latency, then succeeds, or fails with
   * the configured probability.
   */
  async #runOperation(
    operation: string,
    call: DriverCall,
    steps: {
      begin?: (kind: SimulatedKind) => PlainValues;
      end: (kind: SimulatedKind, memo: PlainValues) => PlainValues;
    },
  ): Promise<Step> {
    const kind = this.#objects.kind(call.kind);
    const interimStates = kind.transitionStates?.[operation] ?? [];
    const { run, stage } = v.parse(memoSchema, call.memo);
    const object = operation === 'create' ? undefined : this.#object(call);
    if (stage < Math.max(1, interimStates.length)) {
      return this.app.db.write((): Step => {
        const beginning =
          stage === 0 ? { run: this.#backend.next(`runs ${call.uuid} ${operation}`), ...steps.begin?.(kind) } : {};
        const milliseconds = Math.ceil(this.#tuning.latency(operation, call.kind) / Math.max(1, interimStates.length));
        return {
          kind: 'wait',
          milliseconds,
          memo: { ...call.memo, ...beginning, stage: stage + 1 },
          values: runtime(interimStates[stage]),
          changes: stage === 0 ? (kind.sideEffects?.[operation]?.(call.parameters) ?? []) : [],
        };
      });
    }
    // A failed operation leaves the object unchanged.
    const failure = this.#failure(operation, call.kind, String(call.values.name), () => run);
    if (failure !== undefined)
      return { kind: 'fail', text: failure, values: stateOf(object?.values ?? { runtime_state: '' }) };
    const known = { ...call.values, ...object?.values };
    const rejection = kind.rejects?.[operation]?.(known, this.#objects.ofKind, call.parameters);
    if (rejection !== undefined) return { kind: 'fail', text: rejection, values: stateOf(object?.values ?? {}) };
    return this.app.db.write((): Step => {
      const values = steps.end(kind, call.memo);
      const changes = this.#objects.changeOthers(kind, operation, { ...call.values, ...values }, call.parameters);
      const object = this.#backend.find(call.kind, values.backend_id ?? call.values.backend_id);
      return { kind: 'done', values: { ...values, ...(object && this.#objects.observed(object)) }, changes };
    });
  }

  /** The row values to send to the provider, without the description unless its kind pushes it. */
  #sentValues(call: DriverCall): PlainValues {
    if (!this.#objects.isResource(call.kind)) return vendorValues(call.values);
    const { description, ...values } = vendorValues(call.values);
    const pushesDescription = this.type.kinds
      .find(({ name }) => name === call.kind)
      ?.pushedFields?.includes('description');
    return pushesDescription ? { ...values, description } : values;
  }

  #object(call: DriverCall): SimulatedObject {
    const object = this.#backend.find(call.kind, call.values.backend_id);
    if (!object) throw new ProviderError('not_found', 'Does not exist at backend.');
    return object;
  }

  /** Runs an operation without steps: waits for its latency. Throws if it fails. */
  async #simulateCall(operation: string, kind = ''): Promise<void> {
    // With a settable clock, waiting does not advance time: only an explicitly configured latency is waited.
    const milliseconds = isSettable(this.app.clock)
      ? (this.#tuning.configuredLatency(operation, kind) ?? 0)
      : this.#tuning.latency(operation, kind);
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
    const run = this.#isStored ? this.app.db.write(() => this.#backend.next(`runs ${operation}`)) : 1;
    const failure = this.#failure(operation, kind, '', () => run);
    if (failure !== undefined) throw new ProviderError('invalid', failure);
  }

  /** Returns the message of a requested or random failure; undefined if the operation succeeds. `run` returns the number of the run. */
  #failure(operation: string, kind: string, name: string, run: () => number): string | undefined {
    const requested = this.app.nextFailures.take(this.type.name, kind, operation);
    if (requested !== undefined) return requested;
    const probability = this.#tuning.failure(operation, kind);
    if (probability === 0) return undefined;
    if (this.#backend.chance(kind, name, operation, run()) >= probability) return undefined;
    return `Simulated failure of ${operation}`;
  }

  /** Removes the objects that vanish at random. Returns whether there are any. */
  #removeVanished(all: readonly SimulatedObject[]): boolean {
    const runs = ({ backend_id, kind }: SimulatedObject): string => `runs ${kind} ${backend_id} vanish`;
    const objects = all.filter(({ kind }) => this.#objects.isResource(kind));
    const candidates = objects.filter(({ kind }) => this.#tuning.failure('vanish', kind) > 0);
    if (candidates.length > 0) this.#backend.countEach(candidates.map(runs));
    const vanished = objects.filter((object) => {
      const run = (): number => this.#backend.count(runs(object));
      if (this.#failure('vanish', object.kind, String(object.values.name), run) === undefined) return false;
      this.#objects.removeUnnoticed(object);
      return true;
    });
    return vanished.length > 0;
  }
}

/** The runtime state of these values, if there is one. */
const stateOf = ({ runtime_state: state }: PlainValues): PlainValues =>
  state === undefined ? {} : { runtime_state: state };

const localColumns = new Set([
  'id',
  'uuid',
  'kind',
  'is_part',
  'link_id',
  'service_id',
  'settings_id',
  'project_id',
  'customer_id',
  'parent_id',
  'instance_id',
  'state',
  'error_message',
  'backend_id',
  'backend_name',
  'backend_description',
  'created',
  'action',
  'action_details',
  'start_time',
  'revision',
  'key_name',
  'key_fingerprint',
  'user_data',
  'external_ips',
  'internal_ips',
]);

/** The values that exist at the provider too. */
const vendorValues = (values: PlainValues): PlainValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !localColumns.has(name)));
