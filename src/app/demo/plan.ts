import { day, hour, second } from '../../kernel/clock.ts';
import { reportProgress } from '../../kernel/progress.ts';
import type { Seed } from './seed.ts';
import type { TimeMachine } from './time-machine.ts';

type Act = (past: TimeMachine) => void;

/** Days of history. */
export const span = 730;

/**
 * The instant that stands for `now` in the calendar of the plan, a Friday. Working days are counted from it instead of from the
 * real calendar: the history has the same distances from now at every start, so that the build can store it as a snapshot.
 */
export const reference = Date.UTC(2018, 0, 5, 4, 47, 4) * 1000;

/** Acts by their instants, and the calendar by which they are planned. */
export class Plan {
  readonly #acts: { readonly at: number; readonly act: Act }[] = [];
  /** The last instant of ordinary acts; later ones are those that are still in progress now. */
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

  /** A moment in office hours some days before now; at weekends, on the Monday after. */
  daysAgo(days: number): number {
    return this.#officeHours(this.now - days * day);
  }

  /** A moment between two instants, in office hours if they leave enough time for it. */
  between(from: number, to: number): number {
    const seconds = Math.max(1, Math.floor((to - from) / second));
    const instant = Math.floor(from) + this.seed.below(seconds) * second;
    const moment = this.#officeHours(instant);
    return moment > from && moment < to ? moment : instant;
  }

  /** Performs all acts in order; those of one instant in the order in which they were planned. */
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
