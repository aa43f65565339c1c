/** A record or head in the form that sinks receive. */
export interface SinkRecord {
  /** UTC, with microseconds. */
  readonly at: string;
  readonly operation: string;
  readonly outcome: 'done' | 'refused';
  /** One line of JSON, without its end. */
  readonly line: string;
}

/** Consecutive records of one chain, or a head. They are the same in every attempt. */
export interface Batch {
  /** Identifies the batch. */
  readonly key: string;
  readonly records: readonly SinkRecord[];
}

export type SinkName = 'url' | 'file' | 'syslog';

/** A destination outside the database for the records of the trail (audit.md 9). */
export interface Sink {
  readonly name: SinkName;
  /** Maximum retry delay in microseconds. */
  readonly maxRetryDelay: number;
  /** Sends a batch. Rejects with a readable error unless the sink has received all of it. */
  send(batch: Batch): Promise<void>;
  /** Reopens the file. */
  reopen?(): void;
  /** Aborts an attempt in progress. */
  close(): void;
}
