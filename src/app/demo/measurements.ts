import { day, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import type { DemoResource, Inventory } from './inventory.ts';
import { monthName, monthOf } from './months.ts';
import type { Seed } from './seed.ts';
import type { TimeMachine } from './time-machine.ts';
import type { Person } from './world.ts';

const longest = 12;
const longestMonth = 31 * day;
const agreed = 99.5;
/** How long before now a probe has reported for the last time. */
export const sinceMeasured = 110 * minute;

/** What a probe of staff has told of every resource: SLA of its last months, and the present values of what is watched. */
export function planMeasurements({ story: { plan, seed, world }, things }: Inventory): void {
  const by = present(world.team[1]);
  plan.at(plan.now - sinceMeasured, (past) => {
    const present = things.filter(({ gone, url }) => url !== '' && gone > plan.latest);
    // Every twelfth is not watched.
    for (const thing of present.filter((_, n) => n % 12 !== 11)) measure(past, thing, by, seed);
  });
}

function measure(past: TimeMachine, thing: DemoResource, by: Person, seed: Seed): void {
  const scope = thing.url;
  const now = past.app.clock.now();
  for (const period of lastMonths(thing.made, now)) {
    const value = seed.below(8) === 0 ? 95 + seed.below(450) / 100 : 99.5 + seed.below(50) / 100;
    past.send('PUT', '/api/resource-sla/', { by, body: { scope, period, value, agreed_value: agreed } });
  }
  const items = thing.isMachine ? ['cpu_usage', 'ram_usage', 'disk_usage'] : ['response_time'];
  for (const name of items) {
    past.send('PUT', '/api/monitoring-items/', {
      by,
      body: { scope, name, value: thing.isMachine ? seed.below(1000) / 10 : 20 + seed.below(400) },
    });
  }
}

/**
 * The last months up to now as `YYYY-MM`, as many as surely lie after the instant: how many depends on the time that has
 * passed alone, not on the calendar.
 */
function lastMonths(from: number, now: number): string[] {
  const count = Math.min(longest, 1 + Math.floor((now - from) / longestMonth));
  return Array.from({ length: count }, (_, n) => monthName(monthOf(now) - count + 1 + n));
}
