import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import type { Driver } from '../catalogue/driver.ts';
import type { ProviderError } from '../catalogue/provider-error.ts';
import type { Job } from './jobs.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** Returns the handler that runs a job. */
    readonly jobHandlerOf: (job: Job) => JobHandler;
  }
}

/** Stores the result of a call and removes or postpones its job, in one transaction. */
export type StoreStep = (context: Context) => void;

/** One or more transactions, with other requests in between. The last one removes or postpones the job. */
export type StoreSteps = StoreStep | Iterable<StoreStep>;

/** Runs one kind of job for the worker; the module of that kind implements it. */
export interface JobHandler {
  /** Whether a creation that has not begun must wait. */
  readonly mustWait?: (app: App, job: Job) => boolean;
  /** Scheduled becomes running, in the transaction that first claims the job. */
  readonly start?: (context: Context, job: Job) => void;
  /** Calls the driver. Returns undefined if the job's object no longer exists. Rejects with ProviderError. */
  readonly call: (app: App, job: Job, driver: Driver) => Promise<StoreSteps | undefined>;
  /** Stores that the call failed for good, and ends the job. */
  readonly fail: (context: Context, job: Job, text: string) => void;
  /** Microseconds until a failed call is retried; undefined for never. Default: by the class of the error. */
  readonly repeatAfter?: (job: Job, error: ProviderError) => number | undefined;
}
