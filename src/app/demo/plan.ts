import { day, hour, second } from '../../kernel/clock.ts';
import { reportProgress } from '../../kernel/progress.ts';
import type { Seed } from './seed.ts';
import type { TimeMachine } from './time-machine.ts';

type Act = (past: TimeMachine) => void;

/** Length of the history in days. */
export const span = 730;

/**
 * The instant, a Friday, that stands for `now` in the plan's calendar. Counting working days from it instead of from the real
 * date gives the history the same distances from now at every start, so that the build can store it as a snapshot.
 */
export const reference = Date.UTC(2018, 0, 5, 4, 47, 4) * 1000;

/** A schedule of acts, and its calendar. */
export class Plan {
  readonly #acts: { readonly at: number; readonly act: Act }[] = [];
  /** The last instant of completed acts. Later acts are still in progress now. */
  readonly latest: number;

  constructor(
    readonly now: number,
    private readonly seed: Seed,
  ) {
    this.latest = now - 2 * hour;
  }

  at(instant: number, act: Act): void {
    this.#acts.push({ at: instant, act });
  }

  /** Returns a moment in office hours some days ago, moved from a weekend to the next Monday. */
  daysAgo(days: number): number {
    return this.#officeHours(this.now - days * day);
  }

  /** Returns a moment between two instants, in office hours if the span is long enough. */
  between(from: number, to: number): number {
    const seconds = Math.max(1, Math.floor((to - from) / second));
    const instant = Math.floor(from) + this.seed.below(seconds) * second;
    const moment = this.#officeHours(instant);
    return moment > from && moment < to ? moment : instant;
  }

  /** Performs all acts in order. Acts of the same instant run in planning order. */
  async run(past: TimeMachine): Promise<void> {
    const acts = this.#acts.sort((a, b) => a.at - b.at);
    for (const [done, { at, act }] of acts.entries()) {
      reportProgress('letting two years pass', done, acts.length);
      await past.passTo(at);
      past.app.db.write(() => act(past));
    }
    await past.passTo(this.now);
  }

  #officeHours(moment: number): number {
    const shift = this.now - reference;
    const instant = moment - shift;
    const midnight = instant - (instant % day);
    // 1 January 1970 was a Thursday.
    const weekday = (midnight / day + 3) % 7;
    const daysUntilMonday = weekday < 5 ? 0 : 7 - weekday;
    return shift + midnight + daysUntilMonday * day + 7 * hour + this.seed.below(10 * 3600) * second;
  }
}
