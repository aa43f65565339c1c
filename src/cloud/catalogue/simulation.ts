import { readOnly } from '../../kernel/collection/field.ts';
import { booleanValue } from '../../kernel/collection/representation.ts';
import { type Sql, sql } from '../../kernel/db/sql.ts';
import type { PlainValues, RowChange } from './driver.ts';

/* Which settings run on the simulator (providers.md 1.2). */

/** Whether settings of this address run on the simulator. */
export const isSimulated = (backendUrl: string | null | undefined): boolean =>
  backendUrl == null || /^simulator:/i.test(backendUrl);

/** The same as an SQL condition, of the settings in this alias. */
export const simulatedSql = (alias: string): string => `ifnull(${alias}.backend_url, '') NOT LIKE 'http%'`;

/** Condition on the settings `st`: they have a real provider, and their last synchronisation did not fail. */
export const isCallable: Sql = sql`st.backend_url LIKE 'http%' AND st.state <> 'Erred'`;

/** Field that says whether settings and their objects are simulated. `condition` is SQL. */
export const simulatedField = (condition: string) => readOnly('boolean', { type: 'boolean' }, booleanValue(condition));

/** A property of a simulated provider. */
export interface SimulatedProperty {
  readonly backend_id: string;
  readonly name: string;
  readonly details: PlainValues;
}

/** Simulation of a provider type. */
export interface Simulation {
  /** Properties by kind. */
  readonly properties: Readonly<Record<string, readonly SimulatedProperty[]>>;
  /** Totals of the settings' quotas, if the provider has them; usage is the sum of a value over all objects. */
  readonly totals?: Readonly<
    Record<string, { readonly limit: number; readonly value: string; readonly kinds: readonly string[] }>
  >;
  readonly kinds: Readonly<Record<string, SimulatedKind>>;
}

/** Simulation of one kind of object. */
export interface SimulatedKind {
  /** The vendor's id of the n-th object of this kind in its settings, from 1. */
  readonly id: (n: number, draw: ValueGenerator, values: PlainValues) => string;
  /** Returns why the provider rejects an operation (including `create`), given its objects; undefined if it accepts it. */
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
  /** Values that the provider adds to a new object, such as addresses and generated names. */
  readonly initialValues?: (n: number, values: PlainValues, draw: ValueGenerator) => PlainValues;
  /** Runtime states an operation passes through before it is done; `create` and `delete` among them. */
  readonly transitionStates?: Readonly<Record<string, readonly string[]>>;
  /** Runtime state when an operation is done. */
  readonly final?: Readonly<Record<string, string>>;
  /** Values after an action besides the runtime state. */
  readonly actionValues?: Readonly<
    Record<string, (values: PlainValues, parameters: PlainValues, draw: ValueGenerator) => PlainValues>
  >;
  /** Changes of other objects when an operation is done, such as adding the root volume of an instance. */
  readonly otherChanges?: Readonly<
    Record<
      string,
      (
        object: PlainValues,
        all: (kind: string) => readonly OtherObject[],
        parameters: PlainValues,
      ) => readonly OtherChange[]
    >
  >;
  /** Changes of other rows while an operation runs. */
  readonly sideEffects?: Readonly<Record<string, (parameters: PlainValues) => readonly RowChange[]>>;
  /** Values that the provider computes from other objects. */
  readonly observed?: (object: OtherObject, all: (kind: string) => readonly OtherObject[]) => PlainValues;
  /** Returns the values of an object for `simulator_inventory`. `fellow` returns the id of the n-th object of another kind. */
  readonly unmanaged?: (n: number, draw: ValueGenerator, fellow: (kind: string) => string | undefined) => PlainValues;
}

/** An object other than the operation's. */
export interface OtherObject {
  readonly backend_id: string;
  readonly values: PlainValues;
}

/** A change of another object. `add` creates one; `report` only returns its values. */
export type OtherChange =
  | {
      readonly kind: string;
      readonly action: 'add';
      readonly values: PlainValues;
      /** Its id, if another object already refers to it. */
      readonly backend_id?: string;
      /** The existing row of the new object. */
      readonly uuid?: string;
      /** Whether to skip the event, because it is part of another object. */
      readonly isSilent?: boolean;
    }
  | { readonly kind: string; readonly action: 'report'; readonly backend_id: string }
  | { readonly kind: string; readonly action: 'change'; readonly backend_id: string; readonly values: PlainValues }
  | { readonly kind: string; readonly action: 'remove'; readonly backend_id: string; readonly isSilent?: boolean };

/** Generates values, deterministic by the seed and the object. */
export interface ValueGenerator {
  /** The next hexadecimal digits of one stream. */
  readonly hex: (length: number) => string;
  /** The next address in 198.18.0.0/15. */
  readonly externalAddress: () => string;
  /** The next address in 10.0.0.0/8. */
  readonly internalAddress: () => string;
  /** The next number of a series, from 1. */
  readonly number: (series: string) => number;
  readonly macAddress: () => string;
  /** Increments a counter; the first value is 1. */
  readonly next: (name: string) => number;
  /** The existing objects of a kind. */
  readonly all: (kind: string) => readonly OtherObject[];
}
