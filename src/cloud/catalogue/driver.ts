/*
 * What the driver of a type of provider does (providers.md 2). Drivers get plain values and return plain values; they hold no
 * state between calls and never touch the API's tables.
 */

/** Plain values of an object, as drivers and descriptions exchange them. */
export type PlainValues = Readonly<Record<string, unknown>>;

/** What a driver knows of settings. Secrets are plain here and nowhere else. */
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
  /** Columns of the row, with `details` spread among them. */
  readonly values: PlainValues;
  readonly parameters: PlainValues;
  /** Secrets of the row and of the call. */
  readonly secrets: PlainValues;
  /** Id at the provider of what it belongs to (`parent_id`); empty without. */
  readonly parent: string;
  readonly memo: PlainValues;
  /** Instant of the operation's first call. */
  readonly started: number;
  /** Whether a call with this memo was made before and the process ended before it told what came of it. */
  readonly isRepeated: boolean;
}

/**
 * An object at the provider, under the names of the row's columns; what is no column goes into details. `start_time` is an
 * instant in microseconds, of providers that tell it.
 */
export interface BackendObject {
  readonly kind: string;
  readonly backend_id: string;
  readonly name: string;
  readonly values: PlainValues;
}

export interface Inventory {
  /** By kind of property: whole sets. */
  readonly properties: Readonly<
    Record<string, readonly { readonly backend_id: string; readonly name: string; readonly details: PlainValues }[]>
  >;
  /** Limits and usages of the settings' quotas. */
  readonly quotas: Readonly<Record<string, { readonly limit: number; readonly usage: number }>>;
  readonly objects: readonly BackendObject[];
}

/** What an operation came to. */
export type Step =
  | { readonly kind: 'done'; readonly values?: PlainValues; readonly changes?: readonly RowChange[] }
  | {
      readonly kind: 'wait';
      readonly milliseconds: number;
      /** Whether there is nothing to wait for but that the memo is stored: the operation is called again at once. */
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

/** A row of another kind that comes, changes or goes with an operation, such as the root volume of an instance. */
export interface RowChange {
  /** `Amazon.Volume` */
  readonly kind: string;
  /** `put` makes the row if there is none; `change` does not. */
  readonly action: 'put' | 'change' | 'remove';
  /** Which row: by its uuid, or by its id at the provider. */
  readonly uuid?: string;
  readonly backend_id?: string;
  readonly values?: PlainValues;
  /** Whether it comes without an event, as a part of what is made. */
  readonly isSilent?: boolean;
}

/** Which object at the provider is meant. */
export type BackendReference = Pick<BackendObject, 'kind' | 'backend_id'>;

/** Somebody, as providers that have accounts of people get to know them. */
export interface Person {
  readonly email: string;
  readonly username: string;
  readonly full_name: string;
}

/** Who may work in objects at a provider whose kinds have members. Accounts are told by the provider's ids. */
export interface Membership {
  /** The accounts that are members of an object. */
  members(object: BackendReference): Promise<ReadonlySet<string>>;
  /** The account of a person, made where there is none. */
  account(person: Person): Promise<string>;
  /** Makes an account a member, unless it is one. Answers false where it may do as much without being one. */
  add(object: BackendReference, account: string): Promise<boolean>;
  remove(object: BackendReference, account: string): Promise<void>;
}

/** The work of a provider. Every method may throw a ProviderError. */
export interface Driver {
  /** One cheap authenticated call. */
  ping(): Promise<void>;
  /** `known`: the objects that have rows here, for providers that do not list what they have. */
  sync(known: readonly BackendReference[]): Promise<Inventory>;
  create(call: DriverCall): Promise<Step>;
  update(call: DriverCall): Promise<Step>;
  delete(call: DriverCall): Promise<Step>;
  action(name: string, call: DriverCall): Promise<Step>;
  /** Present values, or undefined when there is no such object. */
  pull(call: DriverCall): Promise<PlainValues | undefined>;
  /** Removes an SSH key that was uploaded for a user. */
  forgetKey?(fingerprint: string): Promise<void>;
  readonly membership?: Membership;
  /** Usages of a kind's quotas that are too dear to be asked for at every synchronisation. */
  measure?(object: BackendReference): Promise<PlainValues>;
}
