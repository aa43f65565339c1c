/** Detects jumps of the machine's clock, and protects stored data from them (core.md 13). */

import { type Context, systemContext } from '../access/context.ts';
import type { App } from '../app.ts';
import { day, hour, minute, second } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { raw, sql } from '../db/sql.ts';
import { StorageError } from '../durability/storage-error.ts';

declare module '../app.ts' {
  interface App {
    /** Whether the machine's clock has jumped recently, so that expired data must not be removed (core.md 13). */
    readonly isClockDoubtful: () => boolean;
  }
}

/**
 * Stored instants that a rule compares with the current time. The module of the rule declares them for correction after a clock
 * jump (core.md 13).
 */
export interface StoredInstants {
  readonly table: string;
  readonly column: string;
  /** Maximum distance into the future, in microseconds; 0 if they record past events. */
  readonly ahead: number;
  /** Whether something happens automatically at the instant. */
  readonly isDue?: true;
  /** SQL condition for the rows; default: all. */
  readonly where?: string;
  /** Whether time since the instant is counted while the service runs, so that it moves with a clock that jumps forward. */
  readonly countsRunning?: true;
}

/** Effects of a jump on the rules of all modules. */
export interface ClockRules {
  readonly instants: readonly StoredInstants[];
  /** Functions that permanently end expired entries as of the context's time. They run before a set-back clock takes effect. */
  readonly endExpired: readonly ((context: Context) => void)[];
}

/** A smaller difference does not count as a jump back, but as rounding or a leap second. */
const tolerance = 10 * second;
/** Removals wait after a longer jump, which may be an error. */
const maxTrustedJump = hour;
const distrustPeriod = day;
const storeInterval = minute;

/** The stored state of the clock. */
interface StoredClock {
  /** The clock's time when a server last ran; null if none has. */
  readonly clock_seen: number | null;
  /** Size of the jump, and running time until removals resume, in microseconds; null if removals run. */
  readonly clock_jump: number | null;
  readonly clock_wait: number | null;
}

const readStored = (db: Database): StoredClock =>
  db.one<StoredClock>(sql`SELECT clock_seen, clock_jump, clock_wait FROM deployment`);

/** The clock and the monotonic clock at one instant. */
interface Reading {
  readonly now: number;
  readonly elapsed: number;
}

/**
 * Compares a clock with a monotonic clock beside it. A jump while the server runs is a difference between both; at
 * the start the clock is compared with the time when a server last ran, so that a long stop counts as a jump forward.
 */
export class ClockWatch {
  /** The difference at the last check that moved it; undefined while not watching. */
  #base: Reading | undefined;
  /** Monotonic time at which the clock was last stored. */
  #storedAt = 0;
  #isWaiting = false;

  constructor(
    private readonly app: App,
    private readonly rules: ClockRules,
  ) {}

  /** Compares the clock with the time when a server last ran, and watches it from now on. */
  start(): void {
    const reading = this.#read();
    if (!reading) return;
    const jump = this.#sinceSeen(reading.now);
    // A server must start even on a full disk. If so, the next check handles the jump.
    this.#base = { now: reading.now - jump, elapsed: reading.elapsed };
    this.#storedAt = reading.elapsed;
    try {
      this.#handleJump(reading, jump, 'since it was last seen');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    this.#updateWaiting();
  }

  /** Checks the clock. Call it once a second, before any code uses the clock. */
  check(): void {
    const reading = this.#base && this.#read();
    if (!reading) return;
    const jump = this.#jumpAt(reading);
    if (Math.abs(jump) >= tolerance) this.#handleJump(reading, jump, 'while the server was running');
    else if (reading.elapsed - this.#storedAt >= storeInterval) this.#storeReading(reading);
    this.#updateWaiting();
  }

  /** Whether the clock may be wrong: it jumped less than a day of running time ago. */
  isSuspect(): boolean {
    const reading = this.#base && this.#read();
    return reading !== undefined && (this.#isWaiting || Math.abs(this.#jumpAt(reading)) > maxTrustedJump);
  }

  /** The operator confirms the clock: removals resume. A running server notices it within a second. */
  accept(): void {
    const { app } = this;
    const now = app.clock.now();
    app.db.write(() => {
      this.#repair(now, this.#sinceSeen(now));
      app.db.update('deployment', 1, { clock_seen: now, clock_jump: null, clock_wait: null });
    });
    app.db.store();
  }

  #read(): Reading | undefined {
    const { clock } = this.app;
    const elapsed = clock.elapsed?.();
    return elapsed === undefined ? undefined : { now: clock.now(), elapsed };
  }

  /** Returns the movement of the clock minus the elapsed time. */
  #jumpAt({ elapsed, now }: Reading): number {
    const base = this.#base;
    return base ? now - base.now - (elapsed - base.elapsed) : 0;
  }

  /** Returns the movement of the clock since a server last ran, without the duration of an ordinary restart. */
  #sinceSeen(now: number): number {
    const seen = readStored(this.app.db).clock_seen ?? now;
    return now < seen - tolerance || now > seen + maxTrustedJump ? now - seen : 0;
  }

  /** Corrects stored instants after a jump, if any, and continues with the current clock. */
  #handleJump(reading: Reading, jump: number, when: string): void {
    const { config, db, log } = this.app;
    const isNotable = Math.abs(jump) > maxTrustedJump;
    db.writeRelaxed(() => {
      this.#repair(reading.now, jump);
      db.update('deployment', 1, {
        clock_seen: reading.now,
        ...(isNotable && { clock_jump: jump, clock_wait: distrustPeriod }),
      });
    });
    this.#base = reading;
    this.#storedAt = reading.elapsed;
    if (jump === 0) return;
    const fields = { jump_seconds: Math.round(jump / second) };
    const moved = `the clock has moved ${jumpText(jump)} ${when}`;
    if (isNotable)
      log.warn(
        fields,
        `${moved}: expired data is not removed until the server has run for a day, or until \`${acceptance(config.data)}\``,
      );
    else log.info(fields, moved);
  }

  /** Expired entries stay expired; instants too far in the future move to the latest that their rule allows. */
  #repair(now: number, jump: number): void {
    const { app, rules } = this;
    if (jump < 0) for (const end of rules.endExpired) end({ ...systemContext(app), now: now - jump });
    for (const { ahead, column, countsRunning, table, where = 'TRUE' } of rules.instants) {
      const [rows, instant] = [raw(`${table} SET ${column}`), raw(column)];
      if (jump < 0)
        app.db.run(sql`UPDATE ${rows} = ${now + ahead} WHERE ${instant} > ${now + ahead} AND ${raw(where)}`);
      else if (jump > maxTrustedJump && countsRunning)
        app.db.run(sql`UPDATE ${rows} = min(${instant} + ${jump}, ${now}) WHERE ${raw(where)}`);
    }
  }

  /** Stores the clock's instant, and that the server has run for a while longer. */
  #storeReading({ elapsed, now }: Reading): void {
    const { db } = this.app;
    const ran = elapsed - this.#storedAt;
    db.writeRelaxed(() =>
      db.run(sql`
        UPDATE deployment
        SET clock_seen = ${now},
          clock_jump = iif(clock_wait > ${ran}, clock_jump, NULL),
          clock_wait = iif(clock_wait > ${ran}, clock_wait - ${ran}, NULL)`),
    );
    this.#storedAt = elapsed;
  }

  /** Reads whether removals wait, because an operator may have confirmed the clock. */
  #updateWaiting(): void {
    const isWaiting = readStored(this.app.db).clock_wait !== null;
    if (this.#isWaiting && !isWaiting) this.app.log.info('removal of expired data resumes');
    this.#isWaiting = isWaiting;
  }
}

/** The command for operators who confirm that the clock is right. */
const acceptance = (folder: string): string => `tenantry doctor --accept-clock --data ${folder}`;

const jumpText = (jump: number): string => {
  const [size, unit] = Math.abs(jump) > maxTrustedJump ? [hour, 'hour'] : [second, 'second'];
  const amount = Math.round(Math.abs(jump) / size);
  return `${amount} ${unit}${amount === 1 ? '' : 's'} ${jump < 0 ? 'back' : 'ahead'}`;
};

/** Returns a line about the jump that removals wait for; none if they run. */
export function clockDoubts({ config, db }: App): string[] {
  const { clock_jump: jump, clock_wait: wait } = readStored(db);
  if (jump === null || wait === null) return [];
  const until = `until a server has run for another ${Math.ceil(wait / hour)} hours, or until \`${acceptance(config.data)}\``;
  return [`the clock has moved ${jumpText(jump)}: expired data is not removed ${until}`];
}
