import type { Client, Fixture, Json } from '../support/fixture.ts';
import type { AccountOptions } from './account.ts';
import type { Fault, VendorRequest, VendorResponse } from './server.ts';

/* The interface between the fault tests and each vendor. */

/** An account at a vendor stand-in. */
export interface FaultyAccount {
  readonly fixture: Fixture;
  readonly alice: Client;
  readonly service: Json;
  /** Advances time second by second. */
  advance(seconds: number): Promise<void>;
  /** Synchronises by advancing time by the period and this many seconds more; returns state and error. */
  sync(seconds?: number): Promise<readonly [string, string]>;
  settings(): Promise<Json>;
  /** The body that creates a service on the account. */
  body(fields?: Record<string, unknown>): Record<string, unknown>;
  /** Creates a machine; returns it in state Creation Scheduled. */
  order(name: string): Promise<Json>;
  /** Returns the states of a resource until its operation ends. */
  collectStates(url: string): Promise<string[]>;
  close(): Promise<void>;
  /** The vendor's side. */
  readonly faulty: {
    /** The secrets of the credentials, and those obtained with them, such as tokens. */
    readonly secrets: readonly string[];
    injectFault(route: string, fault: Fault, times?: number): void;
    /** Returns the requests since the last call. */
    take(): readonly (VendorRequest & { readonly route: string })[];
    /** Returns the ids of existing machines. */
    machines(): readonly string[];
    /** Deletes a machine without a request. */
    removeMachine(id: string): void;
    /** Sets the state of a machine. Absent for vendors without states. */
    setState?(id: string, state: string): void;
    /** Invalidates the credentials; returns fields of settings with new ones. */
    replaceCredentials(): Record<string, unknown>;
  };
}

export interface FaultyVendor {
  readonly name: string;
  /** The path segment of its services, such as `digitalocean`. */
  readonly prefix: string;
  readonly open: (options?: AccountOptions) => Promise<FaultyAccount>;
  /** The routes that test credentials and create a machine. */
  readonly routes: { readonly ping: string; readonly create: string };
  /** Returns a rejection with this status in the vendor's form. */
  readonly denial: (status: number, text: string, headers?: Readonly<Record<string, string>>) => VendorResponse;
  /** Whether calls use expiring tokens. After a 401, the driver gets a new token and retries. */
  readonly hasTokens?: boolean;
  /** The message for unknown credentials. */
  readonly unauthorized: string;
  /** Returns the reported text of a rejection if it is more than the rejection's text. */
  readonly reported?: (status: number, text: string) => string;
  /** The reported text of a rejection while testing credentials, if it differs from the vendor's. */
  readonly pingRejection?: string;
  /** Returns state and runtime state of a machine in an unknown state. Absent for vendors without states. */
  readonly unknownState?: (state: string) => readonly [state: string, runtimeState: string];
}
