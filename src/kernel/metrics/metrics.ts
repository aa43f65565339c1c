import { Counts } from './counts.ts';
import { RequestCounts } from './requests.ts';

declare module '../app.ts' {
  interface App {
    readonly metrics: Metrics;
  }
}

/** Hits and misses of a cache. */
export class CacheCounts {
  hits = 0;
  misses = 0;
}

/** What a running server counts for its operator; what counts it knows nothing of who reads it. */
export class Metrics {
  readonly requests = new RequestCounts();
  readonly caches = { answers: new CacheCounts(), texts: new CacheCounts(), tokens: new CacheCounts() } as const;
  /** Rejected attempts to log in, by reason. */
  readonly rejectedLogins = new Counts<[reason: 'credentials' | 'locked' | 'saml']>();
  /** By what became of them. */
  readonly mails = new Counts<[result: 'sent' | 'skipped' | 'failed']>();
  /** Attempts to deliver what stands in an outbox. */
  readonly deliveries = new Counts<[outbox: string, result: 'delivered' | 'skipped' | 'failed']>();
  /** Calls of drivers by the type of the provider, and those that failed by the class of the error. */
  readonly providerCalls = new Counts<[provider: string]>();
  readonly providerFailures = new Counts<[provider: string, error: string]>();
}
