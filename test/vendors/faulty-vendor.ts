import type { Client, Fixture, Json } from '../support/fixture.ts';
import type { AccountOptions } from './account.ts';
import type { Mishap, VendorRequest, VendorResponse } from './server.ts';

/* What the table of faults must know of a vendor. */

/** An account at a stand-in, connected by default. */
export interface FaultyAccount {
  readonly fixture: Fixture;
  readonly alice: Client;
  readonly service: Json;
  /** Lets time pass, second by second. */
  pass(seconds: number): Promise<void>;
  /** Synchronises by letting the period pass, and so many seconds more; returns state and error. */
  sync(seconds?: number): Promise<readonly [string, string]>;
  settings(): Promise<Json>;
  /** The body of a service on the account. */
  body(fields?: Record<string, unknown>): Record<string, unknown>;
  /** Orders a machine; returns it in state Creation Scheduled. */
  order(name: string): Promise<Json>;
  /** The states a resource passes through until it rests. */
  passage(url: string): Promise<string[]>;
  close(): Promise<void>;
  /** The vendor's side. */
  readonly faulty: {
    /** That of the credentials, and what it has brought, such as tokens. */
    readonly secrets: readonly string[];
    mishap(route: string, mishap: Mishap, times?: number): void;
    /** The requests since the last call. */
    take(): readonly (VendorRequest & { readonly route: string })[];
    /** Ids of the machines that there are. */
    machines(): readonly string[];
    /** A machine goes without a word. */
    vanish(id: string): void;
    /** A machine is in a state that no one knows; absent where there are no states. */
    disguise?(id: string, state: string): void;
    /** The credentials are not valid any more; returns fields of settings with new ones. */
    replaceCredentials(): Record<string, unknown>;
  };
}

export interface FaultyVendor {
  readonly name: string;
  /** Segment of its services, `digitalocean`. */
  readonly prefix: string;
  readonly open: (options?: AccountOptions) => Promise<FaultyAccount>;
  /** What calls are called: the one that tries credentials, and the one that makes a machine. */
  readonly routes: { readonly ping: string; readonly create: string };
  /** A rejection of this status in the vendor's form. */
  readonly denial: (status: number, text: string, headers?: Readonly<Record<string, string>>) => VendorResponse;
  /** Whether calls carry tokens that end: after a 401 there is a new one, and the call is made again. */
  readonly hasTokens?: boolean;
  /** What it says of unknown credentials. */
  readonly unauthorized: string;
  /** What is reported of a rejection, where there is more than its text. */
  readonly reported?: (status: number, text: string) => string;
  /** What is reported of whatever is rejected when credentials are tried, where it is not the vendor's words. */
  readonly pingRejection?: string;
  /** State and runtime state of a machine in a state that no one knows; absent where there are no states. */
  readonly unknownState?: (state: string) => readonly [state: string, runtimeState: string];
}
