import { day, minute } from '../../kernel/clock.ts';
import { monthName, monthOf } from './months.ts';
import type { Person } from './sample-data.ts';
import type { Resource, Story } from './script.ts';
import type { Seed } from './seed.ts';
import type { TimeMachine } from './time-machine.ts';

const maxMonths = 12;
const maxMonthLength = 31 * day;
const agreed_value = 99.5;
/** Age of the last monitoring report. */
export const sinceMeasured = 110 * minute;

/** Plans the monitoring reports that staff submit: SLA of recent months and current values of each resource. */
export function planMeasurements({ plan, resources, seed }: Story, by: Person): void {
  plan.at(plan.now - sinceMeasured, (past) => {
    const current = resources.filter(({ gone, url }) => url !== '' && gone > plan.latest);
    // Every twelfth resource is unmonitored.
    for (const resource of current.filter((_, n) => n % 12 !== 11)) measure(past, resource, by, seed);
  });
}

function measure(past: TimeMachine, { at, path, url: scope }: Resource, by: Person, seed: Seed): void {
  const now = past.app.clock.now();
  // Count elapsed time instead of calendar months, so that their number does not depend on the date.
  const months = Math.min(maxMonths, 1 + Math.floor((now - at) / maxMonthLength));
  for (let month = monthOf(now) - months + 1; month <= monthOf(now); month++) {
    const value = seed.below(8) === 0 ? 95 + seed.below(450) / 100 : 99.5 + seed.below(50) / 100;
    const body = { scope, period: monthName(month), value, agreed_value };
    past.send('PUT', '/api/resource-sla/', by, { body });
  }
  const isMachine = /-(instances|droplets)$/.test(path);
  for (const name of isMachine ? ['cpu_usage', 'ram_usage', 'disk_usage'] : ['response_time']) {
    const value = isMachine ? seed.below(1000) / 10 : 20 + seed.below(400);
    past.send('PUT', '/api/monitoring-items/', by, { body: { scope, name, value } });
  }
}
