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
  /** Private addresses are allowed: the settings were last written by staff. */
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
  /** Whether an earlier call with this memo ended with the process, so that its outcome is unknown. */
  readonly isRepeated: boolean;
}

/**
 * An object at the provider. Values have the names of the row's columns; others are stored in details. `start_time` is an instant
 * in microseconds, if the provider reports it.
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
  /** Which row: by its uuid, or by its id at the provider. */
  readonly uuid?: string;
  readonly backend_id?: string;
  readonly values?: PlainValues;
  /** Whether to record no event, because the row is part of another object. */
  readonly isSilent?: boolean;
}

/** Which object at the provider is meant. */
export type BackendReference = Pick<BackendObject, 'kind' | 'backend_id'>;

/** A user, as sent to providers with user accounts. */
export interface Person {
  readonly email: string;
  readonly username: string;
  readonly full_name: string;
}

/** Members of objects at a provider. Accounts are the provider's ids. */
export interface Membership {
  /** The accounts that are members of an object. */
  members(object: BackendReference): Promise<ReadonlySet<string>>;
  /** The account of a person; creates a missing one. */
  account(person: Person): Promise<string>;
  /** Makes an account a member. Returns false if it already has these rights without membership. */
  add(object: BackendReference, account: string): Promise<boolean>;
  remove(object: BackendReference, account: string): Promise<void>;
}

/** Operations of a provider. Every method may throw a ProviderError. */
export interface Driver {
  /** One cheap authenticated call. */
  ping(): Promise<void>;
  /** `known`: the objects with rows, for providers that cannot list their objects. */
  sync(known: readonly BackendReference[]): Promise<Inventory>;
  create(call: DriverCall): Promise<Step>;
  update(call: DriverCall): Promise<Step>;
  delete(call: DriverCall): Promise<Step>;
  action(name: string, call: DriverCall): Promise<Step>;
  /** Current values, or undefined if the object does not exist. */
  pull(call: DriverCall): Promise<PlainValues | undefined>;
  /** Removes an SSH key that was uploaded for a user. */
  forgetKey?(fingerprint: string): Promise<void>;
  readonly membership?: Membership;
  /** Usages of a kind's quotas that are too expensive to read at every synchronisation. */
  measure?(object: BackendReference): Promise<PlainValues>;
}
