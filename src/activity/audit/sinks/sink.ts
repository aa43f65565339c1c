/** A record, or a head, as a sink receives it. */
export interface SinkRecord {
  /** UTC, with microseconds. */
  readonly at: string;
  readonly operation: string;
  readonly outcome: 'done' | 'refused';
  /** One line of JSON, without its end. */
  readonly line: string;
}

/** Consecutive records of one chain, or a head. They never change, however often the batch is sent. */
export interface Batch {
  /** Names the batch. */
  readonly key: string;
  readonly records: readonly SinkRecord[];
}

export type SinkName = 'url' | 'file' | 'syslog';

/** A place outside of the database that receives the records of the trail (audit.md 9). */
export interface Sink {
  readonly name: SinkName;
  /** The longest time until a failed batch is sent again, in microseconds. */
  readonly maxRetryDelay: number;
  /** Sends a batch. Rejects with a sentence unless the sink has received all of it. */
  send(batch: Batch): Promise<void>;
  /** Opens the file again. */
  reopen?(): void;
  /** Aborts an attempt in progress. */
  close(): void;
}
