import { isoTime, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import type { DemoResource, Inventory } from './inventory.ts';
import type { Seed } from './seed.ts';
import type { TimeMachine } from './time-machine.ts';
import type { Person } from './world.ts';

const longest = 12;
const agreed = 99.5;

/** What a probe of staff has told of every resource: SLA of its last months, and the present values of what is watched. */
export function planMeasurements({ story: { plan, seed, world }, things }: Inventory): void {
  const by = present(world.team[1]);
  plan.at(plan.now - 110 * minute, (past) => {
    const present = things.filter(({ gone, url }) => url !== '' && gone > plan.latest);
    // Every twelfth is not watched.
    for (const thing of present.filter((_, n) => n % 12 !== 11)) measure(past, thing, by, seed);
  });
}

function measure(past: TimeMachine, thing: DemoResource, by: Person, seed: Seed): void {
  const scope = thing.url;
  const now = past.app.clock.now();
  for (const period of monthsBetween(thing.made, now).slice(-longest)) {
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

/** The months from one instant to another, both included, as `YYYY-MM`. */
function monthsBetween(from: number, to: number): string[] {
  const last = isoTime(to).slice(0, 7);
  const months: string[] = [];
  const start = new Date(from / 1000);
  for (let year = start.getUTCFullYear(), month = start.getUTCMonth() + 1; ; ) {
    const name = `${year}-${String(month).padStart(2, '0')}`;
    months.push(name);
    if (name >= last) return months;
    if (++month > 12) [year, month] = [year + 1, 1];
  }
}
