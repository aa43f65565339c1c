import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../kernel/access/context.ts';
import type { App } from '../../../kernel/app.ts';
import { SinkFeed } from './feed.ts';
import { FileSink } from './file-sink.ts';
import { reportLags } from './lag.ts';
import { destinationsOf, queueHead, queueLoggedHeads } from './positions.ts';
import type { Sink, SinkName } from './sink.ts';
import { SyslogSink } from './syslog-sink.ts';
import { UrlSink } from './url-sink.ts';

/** How long a shutdown waits for the sinks. The next start continues. */
const shutdownTimeoutMs = 1000;

const openers: Readonly<Record<SinkName, (app: App, address: string) => Sink>> = {
  url: (app, address) => new UrlSink(app, new URL(address)),
  file: (_, address) => new FileSink(address),
  syslog: ({ resolve }, address) => new SyslogSink(new URL(address), resolve),
};

/** Sends the audit trail to the configured sinks. They do not wait for each other, and nothing else waits for them. */
export class AuditSinks {
  readonly #feeds: readonly SinkFeed[];

  readonly #started: number;
  /** Whether the heads of earlier processes are queued. */
  #hasLoggedHeads = false;

  constructor(private readonly app: App) {
    this.#started = app.clock.now();
    this.#feeds = destinationsOf(app.config).map(
      (destination) => new SinkFeed(app, destination, openers[destination.name](app, destination.address)),
    );
    if (this.#feeds.length > 0) app.auditHeads.listeners.add((head) => app.db.write(() => queueHead(app, head)));
  }

  /** Sends new records and heads. The timer calls it every second. */
  poll(): void {
    if (this.#feeds.length === 0) return;
    if (!this.#hasLoggedHeads) queueLoggedHeads(this.app);
    this.#hasLoggedHeads = true;
    for (const feed of this.#feeds) feed.poll();
  }

  /** Notifies staff of sinks that are behind. */
  watch(context: Context): void {
    if (this.#feeds.length > 0) this.app.db.write(() => reportLags(context, this.#started));
  }

  /** Reopens `audit_file`, which a program may have renamed. */
  reopen(): void {
    for (const feed of this.#feeds) feed.reopen();
  }

  /** Resolves when no attempt is running. */
  async idle(): Promise<void> {
    await Promise.all(this.#feeds.map((feed) => feed.idle()));
  }

  /** Sends the remaining records for at most `graceMs`, then aborts. With 0, sends nothing more. */
  async close(graceMs = shutdownTimeoutMs): Promise<void> {
    if (graceMs > 0) this.poll();
    await Promise.race([this.idle(), sleep(graceMs, undefined, { ref: false })]);
    for (const feed of this.#feeds) feed.close();
  }
}
