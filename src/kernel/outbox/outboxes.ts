/** The outboxes by name. Modules add theirs by module augmentation. */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface Outboxes {}

export type OutboxName = keyof Outboxes;

declare module '../app.ts' {
  interface App {
    /** Wakes an outbox for queues whose new rows are committed. */
    readonly wakeOutbox: (outbox: OutboxName, queues: readonly number[]) => void;
  }
}
