import type { PlainValues, RowChange } from './driver.ts';

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
  readonly totals?: Readonly<
    Record<string, { readonly limit: number; readonly value: string; readonly kinds: readonly string[] }>
  >;
  readonly kinds: Readonly<Record<string, SimulatedKind>>;
}

/** How one kind of object behaves. */
export interface SimulatedKind {
  /** The vendor's id of the n-th object of this kind in its settings, from 1. */
  readonly id: (n: number, draw: Generator, values: PlainValues) => string;
  /** Why the provider refuses an operation, `create` among them, beside what it has already; undefined when it does not. */
  readonly rejects?: Readonly<
    Record<
      string,
      (
        object: PlainValues,
        all: (kind: string) => readonly OtherObject[],
        parameters: PlainValues,
      ) => string | undefined
    >
  >;
  /** Values the provider gives a new object besides those asked for: addresses, generated names. */
  readonly initialValues?: (n: number, values: PlainValues, draw: Generator) => PlainValues;
  /** Runtime states an operation passes through before it is done; `create` and `delete` among them. */
  readonly transitionStates?: Readonly<Record<string, readonly string[]>>;
  /** Runtime state when an operation is done. */
  readonly final?: Readonly<Record<string, string>>;
  /** Values after an action besides the runtime state. */
  readonly effects?: Readonly<
    Record<string, (values: PlainValues, parameters: PlainValues, draw: Generator) => PlainValues>
  >;
  /** What an operation does to other objects when it is done: the root volume of an instance comes and goes with it. */
  readonly others?: Readonly<
    Record<
      string,
      (
        object: PlainValues,
        all: (kind: string) => readonly OtherObject[],
        parameters: PlainValues,
      ) => readonly OtherChange[]
    >
  >;
  /** What becomes of the rows of other objects while an operation runs. */
  readonly sideEffects?: Readonly<Record<string, (parameters: PlainValues) => readonly RowChange[]>>;
  /** What the provider tells of an object besides its own values. */
  readonly observed?: (object: OtherObject, all: (kind: string) => readonly OtherObject[]) => PlainValues;
  /** Values of an importable object as `simulator_inventory` makes them; `fellow` is the id of the n-th such object of another kind. */
  readonly unmanaged?: (n: number, draw: Generator, fellow: (kind: string) => string | undefined) => PlainValues;
}

/** An object of the world besides the one an operation is about. */
export interface OtherObject {
  readonly backend_id: string;
  readonly values: PlainValues;
}

/** What becomes of another object. `add` makes one; `tell` changes nothing but shows it to us. */
export type OtherChange =
  | {
      readonly kind: string;
      readonly action: 'add';
      readonly values: PlainValues;
      /** Its id, where another object names it already. */
      readonly backend_id?: string;
      /** The row that has been waiting for it. */
      readonly uuid?: string;
      /** Whether it is a part of what is made, of which no event tells. */
      readonly isSilent?: boolean;
    }
  | { readonly kind: string; readonly action: 'report'; readonly backend_id: string }
  | { readonly kind: string; readonly action: 'change'; readonly backend_id: string; readonly values: PlainValues }
  | { readonly kind: string; readonly action: 'remove'; readonly backend_id: string; readonly isSilent?: boolean };

/** Generated values, all following from the world's seed and the object. */
export interface Generator {
  /** Hexadecimal digits; each call goes on in the same stream. */
  readonly hex: (length: number) => string;
  /** The next address of the world in 198.18.0.0/15. */
  readonly externalAddress: () => string;
  /** The next address of the world in 10.0.0.0/8. */
  readonly internalAddress: () => string;
  /** The next number of a series of the world, from 1. */
  readonly number: (series: string) => number;
  readonly macAddress: () => string;
  /** Counts something of the world; the first number is 1. */
  readonly next: (name: string) => number;
  /** What the world holds already of a kind. */
  readonly all: (kind: string) => readonly OtherObject[];
}
