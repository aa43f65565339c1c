import type { PlainValues } from './provider.ts';

/** What the simulator pretends that a provider offers: one property. */
export interface SimulatedProperty {
  readonly backend_id: string;
  readonly name: string;
  readonly details: PlainValues;
}

/** How the simulator plays a type of provider. */
export interface Simulation {
  /** What the provider offers, by kind of property. */
  readonly properties: Readonly<Record<string, readonly SimulatedProperty[]>>;
  /** Totals of the settings' quotas, where the provider has such; usage is the sum of a value over the world. */
  readonly totals?: Readonly<Record<string, { readonly limit: number; readonly value: string; readonly kinds: readonly string[] }>>;
  readonly kinds: Readonly<Record<string, SimulatedKind>>;
}

/** How one kind of object behaves. */
export interface SimulatedKind {
  /** The vendor's id of the n-th object of this kind in its settings, from 1. */
  readonly id: (n: number, draw: Draw, values: PlainValues) => string;
  /** Values the provider gives a new object besides those asked for: addresses, generated names. */
  readonly born?: (n: number, values: PlainValues, draw: Draw) => PlainValues;
  /** Runtime states an operation passes through before it is done; `create` and `delete` among them. */
  readonly interim?: Readonly<Record<string, readonly string[]>>;
  /** Runtime state when an operation is done. */
  readonly final?: Readonly<Record<string, string>>;
  /** Values after an action besides the runtime state. */
  readonly effects?: Readonly<Record<string, (values: PlainValues, parameters: PlainValues, draw: Draw) => PlainValues>>;
  /** What an operation does to other objects when it is done: the root volume of an instance comes and goes with it. */
  readonly others?: Readonly<Record<string, (object: PlainValues, all: (kind: string) => readonly OtherObject[]) => readonly OtherChange[]>>;
  /** Values of an importable object as `simulator_inventory` makes them; `fellow` is the id of the n-th such object of another kind. */
  readonly unmanaged?: (n: number, draw: Draw, fellow: (kind: string) => string | undefined) => PlainValues;
}

/** An object of the world besides the one an operation is about. */
export interface OtherObject {
  readonly backend_id: string;
  readonly values: PlainValues;
}

/** What becomes of another object; `add` makes one. */
export type OtherChange =
  | { readonly kind: string; readonly action: 'add'; readonly values: PlainValues }
  | { readonly kind: string; readonly action: 'change'; readonly backend_id: string; readonly values: PlainValues }
  | { readonly kind: string; readonly action: 'remove'; readonly backend_id: string };

/** Generated values, all following from the world's seed and the object. */
export interface Draw {
  /** Hexadecimal digits; each call goes on in the same stream. */
  readonly hex: (length: number) => string;
  /** The next address of the world in 198.18.0.0/15. */
  readonly externalAddress: () => string;
  /** The next address of the world in 10.0.0.0/8. */
  readonly internalAddress: () => string;
  readonly macAddress: () => string;
}
