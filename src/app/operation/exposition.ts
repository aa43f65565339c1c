import type { App } from '../../kernel/access/app.ts';
import type { Histogram } from '../../kernel/metrics/histogram.ts';
import { routeLabel } from './readings.ts';
import type { Reading } from './samples.ts';

/** Counts by ranges of a value. */
interface Distribution {
  readonly name: string;
  readonly help: string;
  readonly read: () => readonly { readonly labels: Readonly<Record<string, string>>; readonly counts: Histogram }[];
}

const distributions = ({ db, metrics }: App): readonly Distribution[] => [
  {
    name: 'tenantry_http_request_duration_seconds',
    help: 'Time from the headers of a request to its answer, by route.',
    read: () =>
      metrics.requests
        .durations()
        .map(({ durations, route }) => ({ labels: { route: routeLabel(route) }, counts: durations })),
  },
  {
    name: 'tenantry_commit_writes',
    help: 'Pieces of work that shared a commit.',
    read: () => [{ labels: {}, counts: db.commits.sizes }],
  },
  {
    name: 'tenantry_commit_duration_seconds',
    help: 'Time of a commit, nearly all of which is the sync of the write-ahead log.',
    read: () => [{ labels: {}, counts: db.commits.durations }],
  },
];

/** A line of the text. */
interface Series {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The series that Prometheus knows a distribution by: each range with all below it. */
function seriesOf({ name, read }: Distribution): Series[] {
  return read().flatMap(({ counts: { bounds, counts, sum }, labels }) => {
    let below = 0;
    const buckets = [...counts].map((count, i) => {
      below += count;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: below },
    ];
  });
}

/** What writes all metrics as a text for Prometheus, with its media type. Read late: most starts need none of it. */
export async function openExposition(
  app: App,
  readings: readonly Reading[],
): Promise<{ readonly type: string; readonly write: () => Promise<string> }> {
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  for (const { help, labels = [], name, read, type } of readings) {
    const setAll = async (set: (labels: Record<string, string>, value: number) => void): Promise<void> => {
      for (const [value, ...values] of await read())
        set(Object.fromEntries(labels.map((label, i) => [label, values[i] ?? ''])), value);
    };
    const given = { name, help, labelNames: [...labels], registers };
    if (type === 'counter')
      new Counter({
        ...given,
        collect() {
          this.reset();
          return setAll((values, value) => this.inc(values, value));
        },
      });
    else
      new Gauge({
        ...given,
        collect() {
          this.reset();
          return setAll((values, value) => this.set(values, value));
        },
      });
  }
  /** Of values that were counted outside of it. */
  class Counted extends Histogram {
    constructor(private readonly distribution: Distribution) {
      super({ name: distribution.name, help: distribution.help, registers });
    }

    /** What a registry asks every metric for. */
    async getForPromString(): Promise<object> {
      const { help, name } = this.distribution;
      return { name, help, type: 'histogram', values: seriesOf(this.distribution) };
    }
  }
  for (const distribution of distributions(app)) new Counted(distribution);
  return { type: registry.contentType, write: () => registry.metrics() };
}
