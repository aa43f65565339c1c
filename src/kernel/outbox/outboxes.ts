/** The outboxes of the program by name. Each module that sends something adds its own beside it (`declare module`). */
// biome-ignore lint/suspicious/noEmptyInterface: modules add its members
export interface Outboxes {}

export type OutboxName = keyof Outboxes;

declare module '../app.ts' {
  interface App {
    /** Wakes an outbox when rows of these of its queues have been committed. */
    readonly wakeOutbox: (outbox: OutboxName, queues: readonly number[]) => void;
  }
}
