import { firstUser } from '../../accounts/session/initial-password.ts';
import { checkAuditSettings } from '../../activity/audit/config.ts';
import type { App } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import { busyTimeout } from '../../kernel/durability/handle.ts';
import { checkBackupSettings } from '../backup/config.ts';
import { type OpenOptions, openDeployment } from '../compose/composition.ts';
import { checkLeaseSettings } from '../replication/writing.ts';
import { BackgroundWork } from './background-work.ts';
import { type Dispatcher, dispatcher } from './dispatch.ts';

/** A running deployment without a listener. Handles requests and runs background work. */
export interface Engine {
  readonly app: App;
  readonly dispatcher: Dispatcher;
  /** Path of the file with the first user's password, if this start created that user. */
  readonly initialPassword: string | undefined;
  /** Issues a token for a user (default: `admin`). Throws if there is no such active user. */
  issueToken(username?: string): string;
  /** Milliseconds since the timer last ran due work. */
  timerAgeMs(): number;
  /** Runs pending work. The timer does this every second. Optionally leaves out work that reads do on demand. */
  tick(includesOnDemand?: boolean): void;
  /** Reopens the audit trail file. */
  reopenFiles(): void;
  /** Resolves when no pending work is left: provider calls, hook deliveries, mails and housekeeping. */
  settled(): Promise<void>;
  /** Stops background work and cancels deliveries, but still handles requests. Resolves when no provider call is running. */
  pause(): Promise<void>;
  /** Stops background work, gives work in progress `graceMs` (default: a second), saves and closes everything. */
  close(graceMs?: number): Promise<void>;
  /** Stops background work, cancels deliveries, and closes everything when no provider call is running. */
  abandon(): Promise<void>;
}

/**
 * Opens the database and starts background work. A passive engine only handles requests, which still end expired roles,
 * invitations and API keys. Rejects with a readable error if the configuration or the data is unusable.
 */
export async function startEngine(
  config: Config,
  opening: Omit<OpenOptions, 'purpose' | 'isCopy' | 'wakeOutbox'>,
  isPassive = false,
): Promise<Engine> {
  checkBackupSettings(config);
  checkLeaseSettings(config);
  checkAuditSettings(config);
  const deployment = openDeployment(config, {
    ...opening,
    purpose: 'serve',
    isCopy: isPassive,
    wakeOutbox: (outbox, queues) => work.wake(outbox, queues),
  });
  const { app, router, issueToken } = deployment;
  const work = new BackgroundWork(deployment, isPassive);
  const closeData = async (): Promise<void> => {
    app.deployment.examination.close();
    app.deployment.backups?.close();
    await app.samlThread.close();
    await app.readerThread?.close();
    await app.db.stopCheckpoints();
    deployment.close();
  };
  const initialPassword = await work.start(opening.folder).catch(
    // Close everything and unlock the folder, because an embedding program may try again.
    async (error: unknown) => {
      await closeData();
      throw error;
    },
  );
  return {
    app,
    dispatcher: dispatcher(app, router),
    initialPassword,
    issueToken: (username = firstUser) => issueToken(username),
    timerAgeMs: () => work.timerAgeMs(),
    tick: (includesOnDemand) => work.tick(includesOnDemand),
    reopenFiles: () => work.reopenFiles(),
    settled: () => work.idle(),
    pause: () => work.pause(),
    close: async (graceMs) => {
      app.db.waitFor(busyTimeout);
      app.eventStreams.close();
      await work.close(graceMs);
      await closeData();
    },
    abandon: async () => {
      app.eventStreams.close();
      await work.pause();
      await closeData();
    },
  };
}
