import { Counts } from './counts.ts';
import { Histogram } from './histogram.ts';

/** What the commits of a database were like, those that changed something. */
export class CommitCounts {
  /** Pieces of work that shared one. */
  readonly sizes = new Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  /** Seconds until the pages were in the log and synced. */
  readonly durations = new Histogram([0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1]);
  /** Those that failed, by why. */
  readonly failures = new Counts<[reason: string]>();
}
