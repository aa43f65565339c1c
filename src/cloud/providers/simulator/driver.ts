import type { Deployment } from '../../../kernel/access/deployment.ts';
import type {
  BackendObject,
  Driver,
  DriverCall,
  DriverSettings,
  Inventory,
  PlainValues,
  RowChange,
  Step,
} from '../../catalogue/driver.ts';
import { parseFailures, parseLatencies } from '../../catalogue/options.ts';
import { ProviderError } from '../../catalogue/provider-error.ts';
import type { OtherChange, SimulatedKind } from '../../catalogue/simulation.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { type SimulatedObject, World } from './world.ts';

const defaultLatencies = parseLatencies('create=3000,delete=2000,sync=1000,ping=0,*=1500') ?? new Map<string, number>();

/** A provider inside the process (providers.md 3): believable, deterministic under a seed, failing on demand. */
export class SimulatorDriver implements Driver {
  readonly #world: World;
  readonly #latencies: ReadonlyMap<string, number>;
  readonly #failures: ReadonlyMap<string, number>;

  constructor(
    private readonly deployment: Deployment,
    private readonly type: ProviderType,
    private readonly settings: DriverSettings,
  ) {
    this.#world = new World(deployment, settings);
    const { simulator_failures: failures, simulator_latency: latencies } = settings.options;
    this.#latencies = given(latencies, parseLatencies) ?? new Map();
    this.#failures = given(failures, parseFailures) ?? new Map();
  }

  async ping(): Promise<void> {
    await this.#pass('ping');
  }

  async sync(): Promise<Inventory> {
    await this.#pass('sync');
    return this.deployment.db.write(() => {
      this.#addUnmanaged();
      this.#vanish();
      return {
        properties: this.type.simulation.properties,
        quotas: this.#totals(),
        objects: this.#resources().map((object) => this.#described(object)),
      };
    });
  }

  async create(call: DriverCall): Promise<Step> {
    return this.#play('create', call, {
      begin: (kind) => {
        const ordinal = this.#world.next(`objects ${call.kind}`);
        const draw = this.#world.draw(call.kind, ordinal);
        const asked = { ...call.values, ...call.parameters, parent: call.parent };
        return { ordinal, id: kind.id(ordinal, draw, asked), born: kind.born?.(ordinal, asked, draw) ?? {} };
      },
      end: (kind, memo) => {
        const { born, id, ordinal } = memo as { born: PlainValues; id: string; ordinal: number };
        const values = { ...this.#told(call), ...born, ...runtime(kind.final?.create) };
        this.#world.add(call.kind, ordinal, id, values);
        return { ...born, ...runtime(kind.final?.create), backend_id: id };
      },
    });
  }

  async update(call: DriverCall): Promise<Step> {
    return this.#play('update', call, {
      end: () => {
        const told = this.#told(call);
        this.#world.change(
          this.#object(call),
          this.#isResource(call.kind) ? { description: told.description, name: told.name } : told,
        );
        return {};
      },
    });
  }

  async delete(call: DriverCall): Promise<Step> {
    const object = this.#world.find(call.kind, call.values.backend_id);
    if (!object) return { kind: 'done' };
    const end = () => {
      this.#world.remove(object);
      return {};
    };
    return this.#play('delete', call, { end });
  }

  async action(name: string, call: DriverCall): Promise<Step> {
    return this.#play(name, call, {
      end: (kind) => {
        const object = this.#object(call);
        const effect =
          kind.effects?.[name]?.(
            { ...call.values, ...object.values },
            call.parameters,
            this.#world.draw(call.kind, object.ordinal),
          ) ?? {};
        const values = { ...effect, ...runtime(kind.final?.[name]) };
        this.#world.change(object, values);
        return values;
      },
    });
  }

  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    await this.#pass('pull', call.kind);
    const object = this.#world.find(call.kind, call.values.backend_id);
    return object && this.#described(object).values;
  }

  async forgetKey(): Promise<void> {
    // The pretended provider keeps no keys.
  }

  /**
   * An operation in its steps: it begins, passes through the interim runtime states within its latency, and then either
   * fails as drawn or ends.
   */
  async #play(
    operation: string,
    call: DriverCall,
    play: {
      begin?: (kind: SimulatedKind) => PlainValues;
      end: (kind: SimulatedKind, memo: PlainValues) => PlainValues;
    },
  ): Promise<Step> {
    const kind = this.type.simulation.kinds[call.kind];
    if (!kind) throw new Error(`${this.type.name} has no simulated ${call.kind}`);
    const passing = kind.interim?.[operation] ?? [];
    const memo = call.memo as { stage?: number; run?: number };
    if (operation !== 'create') this.#object(call);
    const stage = memo.stage ?? 0;
    if (stage < Math.max(1, passing.length)) {
      return this.deployment.db.write((): Step => {
        const begun =
          stage === 0 ? { run: this.#world.next(`runs ${call.uuid} ${operation}`), ...play.begin?.(kind) } : {};
        const milliseconds = Math.ceil(this.#latency(operation, call.kind) / Math.max(1, passing.length));
        return {
          kind: 'wait',
          milliseconds,
          memo: { ...memo, ...begun, stage: stage + 1 },
          values: runtime(passing[stage]),
          changes: stage === 0 ? (kind.meanwhile?.[operation]?.(call.parameters) ?? []) : [],
        };
      });
    }
    if (this.#fails(operation, call.kind, String(call.values.name), memo.run ?? 1)) {
      const before =
        operation === 'create'
          ? { runtime_state: '' }
          : runtime(this.#world.find(call.kind, call.values.backend_id)?.values.runtime_state as string);
      return { kind: 'fail', text: `Simulated failure of ${operation}`, values: before };
    }
    const refusal =
      operation === 'create'
        ? kind.refuses?.({ ...call.values, ...call.parameters }, (name) => this.#world.ofKind(name))
        : undefined;
    if (refusal !== undefined) return { kind: 'fail', text: refusal };
    return this.deployment.db.write((): Step => {
      const values = play.end(kind, call.memo);
      const changes = this.#changeOthers(kind, operation, { ...call.values, ...values }, call.parameters);
      const object = this.#world.find(call.kind, values.backend_id ?? call.values.backend_id);
      return { kind: 'done', values: { ...values, ...(object && this.#observed(object)) }, changes };
    });
  }

  /** Carries out what an operation does to other objects; answers the same for their rows. */
  #changeOthers(
    kind: SimulatedKind,
    operation: string,
    object: PlainValues,
    parameters: PlainValues = {},
  ): RowChange[] {
    return (kind.others?.[operation]?.(object, (name) => this.#world.ofKind(name), parameters) ?? []).map(
      (change): RowChange => {
        const name = `${this.type.name}.${change.kind}`;
        if (change.action === 'add') {
          const { backend_id: id, values } = this.#add(change);
          const row = change.uuid === undefined ? { backend_id: id } : { uuid: change.uuid };
          const born = change.uuid === undefined ? values : { ...values, backend_id: id, state: 'OK' };
          return { kind: name, action: 'put', ...row, values: born, ...(change.isSilent && { isSilent: true }) };
        }
        const other = this.#world.find(change.kind, change.backend_id);
        if (change.action === 'tell')
          return {
            kind: name,
            action: 'put',
            backend_id: change.backend_id,
            values: other?.values ?? {},
            isSilent: true,
          };
        if (change.action === 'remove') {
          if (other) this.#world.remove(other);
          return {
            kind: name,
            action: 'remove',
            backend_id: change.backend_id,
            ...(change.isSilent && { isSilent: true }),
          };
        }
        if (other) this.#world.change(other, change.values);
        return { kind: name, action: 'change', backend_id: change.backend_id, values: change.values };
      },
    );
  }

  /** The objects that a synchronisation tells of. */
  #resources(): SimulatedObject[] {
    return this.#world.all().filter(({ kind }) => this.#isResource(kind));
  }

  #isResource(kind: string): boolean {
    return this.type.kinds.some(({ name }) => name === kind);
  }

  /** Makes an object besides the one an operation is about. */
  #add({ backend_id: given, kind: name, values: asked }: Extract<OtherChange, { action: 'add' }>): {
    backend_id: string;
    values: PlainValues;
  } {
    const kind = this.type.simulation.kinds[name] as SimulatedKind;
    const ordinal = this.#world.next(`objects ${name}`);
    const draw = this.#world.draw(name, ordinal);
    const id = given ?? kind.id(ordinal, draw, asked);
    const values = { ...kind.born?.(ordinal, asked, draw), ...asked };
    this.#world.add(name, ordinal, id, values);
    return { backend_id: id, values };
  }

  #described(object: SimulatedObject): BackendObject {
    const { name, ...rest } = object.values;
    return {
      kind: object.kind,
      backend_id: object.backend_id,
      name: String(name ?? ''),
      values: { ...rest, ...this.#observed(object) },
    };
  }

  #observed(object: SimulatedObject): PlainValues {
    return this.type.simulation.kinds[object.kind]?.observed?.(object, (name) => this.#world.ofKind(name)) ?? {};
  }

  /** What of our values the provider is told; of a resource's description nothing where changes of it are not pushed. */
  #told(call: DriverCall): PlainValues {
    if (!this.#isResource(call.kind)) return vendorValues(call.values);
    const { description, ...values } = vendorValues(call.values);
    const isTold = this.type.kinds.find(({ name }) => name === call.kind)?.pushes?.includes('description');
    return isTold ? { ...values, description } : values;
  }

  #object(call: DriverCall): SimulatedObject {
    const object = this.#world.find(call.kind, call.values.backend_id);
    if (!object) throw new ProviderError('not_found', 'Does not exist at backend.');
    return object;
  }

  /** Waits for an operation without steps; throws when it is drawn to fail. */
  async #pass(operation: string, kind = ''): Promise<void> {
    const milliseconds = this.#latency(operation, kind);
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
    // Credentials that are tried before anything is stored have no world yet.
    const run = this.settings.id === 0 ? 1 : this.deployment.db.write(() => this.#world.next(`runs ${operation}`));
    if (this.#fails(operation, kind, '', run)) throw new ProviderError('invalid', `Simulated failure of ${operation}`);
  }

  #latency(operation: string, kind: string): number {
    return chosen(this.#latencies, operation, kind) ?? chosen(defaultLatencies, operation, kind) ?? 0;
  }

  #fails(operation: string, kind: string, name: string, run: number): boolean {
    const probability =
      (operation === 'vanish'
        ? withoutStar(this.#failures, operation, kind)
        : chosen(this.#failures, operation, kind)) ?? 0;
    return probability > 0 && this.#world.chance(kind, name, operation, run) < probability;
  }

  #addUnmanaged(): void {
    const wanted = Number(this.settings.options.simulator_inventory ?? 0);
    for (const { isImportable, name } of this.type.kinds) {
      const kind = this.type.simulation.kinds[name];
      if (!isImportable || !kind?.unmanaged) continue;
      for (let n = this.#world.count(`unmanaged ${name}`) + 1; n <= wanted; n++) {
        this.#world.next(`unmanaged ${name}`);
        const ordinal = this.#world.next(`objects ${name}`);
        const draw = this.#world.draw(name, ordinal);
        const fellow = (other: string): string | undefined =>
          this.#world
            .all()
            .find(({ kind: known, values }) => known === other && values.name === unmanagedName(other, n))?.backend_id;
        const values = {
          name: unmanagedName(name, n),
          description: '',
          ...runtime(kind.final?.create),
          ...kind.unmanaged(n, draw, fellow),
        };
        const id = kind.id(ordinal, draw, values);
        this.#world.add(name, ordinal, id, values);
        this.#addParts(kind, { ...values, backend_id: id });
      }
    }
  }

  /** An unmanaged object comes with its parts, though not with what could be imported by itself. */
  #addParts(kind: SimulatedKind, object: PlainValues): void {
    const isPart = (name: string): boolean => this.type.kinds.some((known) => known.isPart && known.name === name);
    for (const change of kind.others?.create?.(object, (name) => this.#world.ofKind(name), {}) ?? []) {
      if (change.action === 'add' && isPart(change.kind)) this.#add(change);
    }
  }

  #vanish(): void {
    for (const object of this.#resources()) {
      const run = this.#world.next(`runs ${object.kind} ${object.backend_id} vanish`);
      if (this.#fails('vanish', object.kind, String(object.values.name), run)) this.#lose(object);
    }
  }

  #lose(object: SimulatedObject): void {
    this.#world.remove(object);
    this.#changeOthers(this.type.simulation.kinds[object.kind] as SimulatedKind, 'delete', {
      ...object.values,
      backend_id: object.backend_id,
    });
  }

  #totals(): Inventory['quotas'] {
    const objects = this.#world.all();
    return Object.fromEntries(
      Object.entries(this.type.simulation.totals ?? {}).map(([name, { kinds, limit, value }]) => [
        name,
        {
          limit,
          usage: objects
            .filter(({ kind }) => kinds.includes(kind))
            .reduce((sum, { values }) => sum + Number(values[value] ?? 0), 0),
        },
      ]),
    );
  }
}

const given = <T>(text: unknown, parse: (text: string) => T | undefined): T | undefined =>
  typeof text === 'string' ? parse(text) : undefined;

/** `<Kind>.<operation>` before `<operation>` before `*`. */
const chosen = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  withoutStar(values, operation, kind) ?? values.get('*');

const withoutStar = (values: ReadonlyMap<string, number>, operation: string, kind: string): number | undefined =>
  values.get(`${kind}.${operation}`) ?? values.get(operation);

const unmanagedName = (kind: string, n: number): string => `unmanaged-${kind.toLowerCase()}-${n}`;

const runtime = (state: string | undefined): PlainValues => (state === undefined ? {} : { runtime_state: state });

const ours = new Set([
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

/** What of our values is no matter of ours alone. */
const vendorValues = (values: PlainValues): PlainValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !ours.has(name)));
