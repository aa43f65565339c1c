import type { App } from '../../../kernel/app.ts';
import type { BackendObject, DriverSettings, Inventory, PlainValues, RowChange } from '../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedKind } from '../../catalogue/simulation.ts';
import type { ProviderType } from '../../catalogue/type.ts';
import { SimulatedBackend, type SimulatedObject } from './backend.ts';

type Addition = Extract<OtherChange, { action: 'add' }>;

/** The objects of a simulated backend, with the behaviour that the provider type declares. */
export class Objects {
  /** Returns the objects of a kind. */
  readonly ofKind = (kind: string): readonly OtherObject[] => this.backend.ofKind(kind);

  constructor(
    private readonly backend: SimulatedBackend,
    private readonly type: ProviderType,
  ) {}

  /** The simulation of a kind. Throws if the type declares none. */
  kind(name: string): SimulatedKind {
    const kind = this.type.simulation.kinds[name];
    if (!kind) throw new Error(`${this.type.name} has no simulated ${name}`);
    return kind;
  }

  isResource(kind: string): boolean {
    return this.type.kinds.some(({ name }) => name === kind);
  }

  /** Returns the inventory of a synchronisation, made of all objects of the account. */
  inventory(objects: readonly SimulatedObject[]): Inventory {
    const byKind = new Map<string, SimulatedObject[]>();
    for (const object of objects) {
      const known = byKind.get(object.kind);
      if (known) known.push(object);
      else byKind.set(object.kind, [object]);
    }
    const ofKind = (kind: string): readonly OtherObject[] => byKind.get(kind) ?? [];
    return {
      properties: this.type.simulation.properties,
      quotas: this.#totals(objects),
      objects: objects.filter(({ kind }) => this.isResource(kind)).map((object) => this.described(object, ofKind)),
    };
  }

  /** An object as the provider returns it. */
  described(object: SimulatedObject, ofKind = this.ofKind): BackendObject {
    const { name, ...rest } = object.values;
    return {
      kind: object.kind,
      backend_id: object.backend_id,
      name: String(name ?? ''),
      values: { ...rest, ...this.observed(object, ofKind) },
    };
  }

  /** Values that the provider computes from other objects. */
  observed(object: SimulatedObject, ofKind = this.ofKind): PlainValues {
    return this.type.simulation.kinds[object.kind]?.observed?.(object, ofKind) ?? {};
  }

  /** Applies the changes that an operation makes to other objects. Returns the matching changes of rows. */
  changeOthers(kind: SimulatedKind, operation: string, object: PlainValues, parameters: PlainValues = {}): RowChange[] {
    const changes = kind.otherChanges?.[operation]?.(object, this.ofKind, parameters) ?? [];
    return changes.map((change) => ({ ...this.#carryOut(change), kind: `${this.type.name}.${change.kind}` }));
  }

  #carryOut(change: OtherChange): Omit<RowChange, 'kind'> {
    if (change.action === 'add') return this.#addWithRow(change);
    const { backend_id } = change;
    const other = this.backend.find(change.kind, backend_id);
    if (change.action === 'report') return { action: 'put', backend_id, values: other?.values ?? {}, isSilent: true };
    if (change.action === 'remove') {
      if (other) this.backend.remove(other);
      return { action: 'remove', backend_id, ...(change.isSilent && { isSilent: true }) };
    }
    if (other) this.backend.change(other, change.values);
    return { action: 'change', backend_id, values: change.values };
  }

  #addWithRow(change: Addition): Omit<RowChange, 'kind'> {
    const { backend_id, values } = this.#add(change);
    const { uuid } = change;
    return {
      action: 'put',
      ...(uuid === undefined ? { backend_id, values } : { uuid, values: { ...values, backend_id, state: 'OK' } }),
      ...(change.isSilent && { isSilent: true }),
    };
  }

  /** Creates an object in addition to the operation's own. */
  #add({ backend_id: input, kind: name, values: requested }: Addition): { backend_id: string; values: PlainValues } {
    const kind = this.kind(name);
    const ordinal = this.backend.next(`objects ${name}`);
    const draw = this.backend.draw(name, ordinal);
    const id = input ?? kind.id(ordinal, draw, requested);
    const values = { ...kind.initialValues?.(ordinal, requested, draw), ...requested };
    this.backend.add(name, ordinal, id, values);
    return { backend_id: id, values };
  }

  /** Adds importable, unmanaged objects until there have been `wanted` of each kind. */
  addUnmanaged(wanted: number): void {
    for (const { importing, name } of this.type.kinds) {
      const kind = this.type.simulation.kinds[name];
      if (!importing || !kind?.unmanaged) continue;
      for (let n = this.backend.count(`unmanaged ${name}`) + 1; n <= wanted; n++) {
        this.backend.next(`unmanaged ${name}`);
        const ordinal = this.backend.next(`objects ${name}`);
        const draw = this.backend.draw(name, ordinal);
        const fellow = (other: string): string | undefined =>
          this.backend
            .all()
            .find(({ kind: known, values }) => known === other && values.name === unmanagedName(other, n))?.backend_id;
        const values = {
          name: unmanagedName(name, n),
          description: '',
          ...runtime(kind.final?.create),
          ...kind.unmanaged(n, draw, fellow),
        };
        const id = kind.id(ordinal, draw, values);
        this.backend.add(name, ordinal, id, values);
        this.#addParts(kind, { ...values, backend_id: id });
      }
    }
  }

  /** Adds an unmanaged object with its parts, but without objects that can be imported separately. */
  #addParts(kind: SimulatedKind, object: PlainValues): void {
    const isPart = (name: string): boolean => this.type.kinds.some((known) => known.isPart && known.name === name);
    for (const change of kind.otherChanges?.create?.(object, this.ofKind, {}) ?? []) {
      if (change.action === 'add' && isPart(change.kind)) this.#add(change);
    }
  }

  /** Removes an object and the objects deleted with it, without notifying the server. */
  removeUnnoticed(object: SimulatedObject): void {
    this.backend.remove(object);
    this.changeOthers(this.kind(object.kind), 'delete', { ...object.values, backend_id: object.backend_id });
  }

  /** Limits and usages of the settings' quotas. */
  #totals(objects: readonly SimulatedObject[]): Inventory['quotas'] {
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

const unmanagedName = (kind: string, n: number): string => `unmanaged-${kind.toLowerCase()}-${n}`;

/** A runtime state as values; empty if undefined. */
export const runtime = (state: string | undefined): PlainValues =>
  state === undefined ? {} : { runtime_state: state };

/** Changes at the simulated provider that the server notices only at the next synchronisation (providers.md 3.2). */
export const drifts = ['rename', 'vanish'] as const;

/** Removes or renames an object. Returns false if it does not exist. Must run in a write transaction. */
export function drift(
  app: App,
  type: ProviderType,
  settings: DriverSettings,
  {
    backendId,
    change,
    kind,
  }: { readonly kind: string; readonly backendId: string; readonly change: (typeof drifts)[number] },
): boolean {
  const backend = new SimulatedBackend(app, settings);
  const object = backend.find(kind, backendId);
  if (!object) return false;
  if (change === 'vanish') new Objects(backend, type).removeUnnoticed(object);
  else backend.change(object, { name: `renamed-${backend.next('renamed')}` });
  return true;
}
