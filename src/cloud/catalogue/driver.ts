/*
 * Interface of drivers (providers.md 2). Drivers take and return plain values, have no state between calls, and never access the
 * tables of the API.
 */

/** Plain values of an object. */
export type PlainValues = Readonly<Record<string, unknown>>;

/** Settings as passed to a driver, the only place where secrets are plain text. */
export interface DriverSettings {
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly name: string;
  readonly backend_url: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly token: string | null;
  readonly certificate: string | null;
  readonly domain: string | null;
  readonly options: PlainValues;
  /** Whether private addresses are allowed, because staff last wrote the settings. */
  readonly mayBePrivate: boolean;
}

/** A call of a driver about one resource. */
export interface DriverCall {
  /** `Droplet` */
  readonly kind: string;
  readonly uuid: string;
  /** Columns of the row and members of its `details`. */
  readonly values: PlainValues;
  readonly parameters: PlainValues;
  /** Secrets of the row and of the call. */
  readonly secrets: PlainValues;
  /** Provider id of the parent (`parent_id`); empty without one. */
  readonly parent: string;
  readonly memo: PlainValues;
  /** Instant of the operation's first call. */
  readonly started: number;
  /** Whether the process ended during an earlier call with this memo, so that its outcome is unknown. */
  readonly isRepeated: boolean;
}

/**
 * An object at the provider. Values are named like the row's columns; others are stored in details. `start_time` is an instant in
 * microseconds, if the provider reports it.
 */
export interface BackendObject {
  readonly kind: string;
  readonly backend_id: string;
  readonly name: string;
  readonly values: PlainValues;
}

export interface Inventory {
  /** Complete sets, by kind of property. */
  readonly properties: Readonly<
    Record<string, readonly { readonly backend_id: string; readonly name: string; readonly details: PlainValues }[]>
  >;
  /** Limits and usages of the settings' quotas. */
  readonly quotas: Readonly<Record<string, { readonly limit: number; readonly usage: number }>>;
  readonly objects: readonly BackendObject[];
}

/** Result of one call of an operation. */
export type Step =
  | { readonly kind: 'done'; readonly values?: PlainValues; readonly changes?: readonly RowChange[] }
  | {
      readonly kind: 'wait';
      readonly milliseconds: number;
      /** Whether to call the operation again as soon as the memo is stored. */
      readonly isImmediate?: boolean;
      readonly memo: PlainValues;
      readonly values?: PlainValues;
      readonly changes?: readonly RowChange[];
    }
  | {
      readonly kind: 'fail';
      readonly text: string;
      readonly values?: PlainValues;
      readonly changes?: readonly RowChange[];
    };

/** A row of another kind that an operation adds, changes or removes, such as the root volume of an instance. */
export interface RowChange {
  /** `Amazon.Volume` */
  readonly kind: string;
  /** `put` creates a missing row; `change` does not. */
  readonly action: 'put' | 'change' | 'remove';
  /** Identifies the row by its uuid or its id at the provider. */
  readonly uuid?: string;
  readonly backend_id?: string;
  readonly values?: PlainValues;
  /** Whether to skip the event, because the row is part of another object. */
  readonly isSilent?: boolean;
}

/** Identifies an object at the provider. */
export type BackendReference = Pick<BackendObject, 'kind' | 'backend_id'>;

/** A user, for providers with user accounts. */
export interface Person {
  readonly email: string;
  readonly username: string;
  readonly full_name: string;
}

/** Manages members of objects at a provider. Accounts are the provider's ids. */
export interface Membership {
  /** Returns the accounts of an object's members. */
  members(object: BackendReference): Promise<ReadonlySet<string>>;
  /** Returns the account of a person, creating it if necessary. */
  account(person: Person): Promise<string>;
  /** Makes an account a member. Returns false if it already has these rights without membership. */
  add(object: BackendReference, account: string): Promise<boolean>;
  remove(object: BackendReference, account: string): Promise<void>;
}

/** Operations of a provider. Every method may throw a ProviderError. */
export interface Driver {
  /** Makes one cheap authenticated call. */
  ping(): Promise<void>;
  /** `known` has the objects with rows, for providers that cannot list their objects. */
  sync(known: readonly BackendReference[]): Promise<Inventory>;
  create(call: DriverCall): Promise<Step>;
  update(call: DriverCall): Promise<Step>;
  delete(call: DriverCall): Promise<Step>;
  action(name: string, call: DriverCall): Promise<Step>;
  /** Returns the current values; undefined if the object does not exist. */
  pull(call: DriverCall): Promise<PlainValues | undefined>;
  /** Removes an uploaded SSH key of a user. */
  deleteKey?(fingerprint: string): Promise<void>;
  readonly membership?: Membership;
  /** Reads quota usages that are too expensive for every synchronisation. */
  measure?(object: BackendReference): Promise<PlainValues>;
}
