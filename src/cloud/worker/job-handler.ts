import type { Context, Deployment } from '../../kernel/access/deployment.ts';
import type { DriverCall, Step } from '../catalogue/driver.ts';
import { entitySubject } from '../entities/entities.ts';
import type { Job } from '../jobs/jobs.ts';
import { resourceSubject } from '../resources/operations.ts';

/** What a job is about, as the worker deals with it: a resource, or an object of a provider type's own. */
export interface Subject {
  /** Scheduled becomes running. */
  start(context: Context): void;
  /** Why the operation goes no further: the text of its failure, or undefined. */
  failure(now: number): string | undefined;
  /** What the driver is told. */
  call(): DriverCall;
  /** Stores what a waiting operation told; answers the text of a failure when the provider's state means one. */
  progress(context: Context, step: Extract<Step, { kind: 'wait' }>): string | undefined;
  /** Stores the end of the operation. */
  finish(context: Context, step: Exclude<Step, { kind: 'wait' }>): void;
}

/** The subject of a job as it is now; undefined when it is gone, or the job is about settings. */
export const subjectOf = (deployment: Deployment, job: Job): Subject | undefined =>
  job.entity_kind === null ? resourceSubject(deployment, job) : entitySubject(deployment, job, job.entity_kind);
