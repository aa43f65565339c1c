import type { App } from '../../kernel/app.ts';
import type { Histogram } from '../../kernel/metrics/histogram.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
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
    help: 'Time from the headers of a request to its answer.',
    read: () => [...metrics.requests.durations].map(([method, counts]) => ({ labels: { method }, counts })),
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

/** Of a reading one line a sample. */
async function samplesOf({ labels = [], name, read }: Reading): Promise<Series[]> {
  return (await read()).map(([value, ...values]) => ({
    metricName: name,
    labels: Object.fromEntries(labels.map((label, i) => [label, values[i] ?? ''])),
    value,
  }));
}

/**
 * What writes all metrics as a text for Prometheus, with its media type. It is read late: most starts need none of it. Between
 * two metrics everybody else has a turn.
 */
export async function openExposition(
  app: App,
  readings: readonly Reading[],
): Promise<{ readonly type: string; readonly write: () => Promise<string> }> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  /** Of values that were counted elsewhere: the library keeps none of them, and checks the names. */
  class Told extends Gauge {
    constructor(
      private readonly told: Pick<Reading, 'name' | 'help' | 'labels'> & { readonly type: string },
      private readonly series: () => Promise<Series[]>,
    ) {
      super({ name: told.name, help: told.help, labelNames: [...(told.labels ?? [])], registers: [registry] });
    }

    /** What a registry asks every metric for. */
    async getForPromString(): Promise<object> {
      const { help, name, type } = this.told;
      return { name, help, type, values: await this.series() };
    }
  }
  for (const reading of readings) new Told(reading, () => samplesOf(reading));
  for (const distribution of distributions(app))
    new Told({ ...distribution, type: 'histogram' }, async () => seriesOf(distribution));
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  return {
    type: registry.contentType,
    write: async () => {
      const texts: string[] = [];
      for (const name of names) {
        texts.push(await registry.getSingleMetricAsString(name));
        await nextTurn();
      }
      return `${texts.join('\n\n')}\n`;
    },
  };
}
