import type { App } from '../../kernel/app.ts';
import type { Histogram } from '../../kernel/metrics/counts.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import type { Reading } from './samples.ts';

/** A histogram. */
interface Distribution {
  readonly name: string;
  readonly help: string;
  readonly read: () => readonly { readonly labels: Readonly<Record<string, string>>; readonly counts: Histogram }[];
}

const distributions = ({ db, metrics }: App): readonly Distribution[] => [
  {
    name: 'tenantry_http_request_duration_seconds',
    help: 'Time from the headers of a request to its response.',
    read: () => [...metrics.requests.durations].map(([method, counts]) => ({ labels: { method }, counts })),
  },
  {
    name: 'tenantry_commit_writes',
    help: 'Writes per commit.',
    read: () => [{ labels: {}, counts: db.commits.sizes }],
  },
  {
    name: 'tenantry_commit_duration_seconds',
    help: 'Time of a commit, including the sync of the write-ahead log.',
    read: () => [{ labels: {}, counts: db.commits.durations }],
  },
];

/** A line in the exposition format. */
interface Series {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Returns the cumulative buckets, the sum and the count of a histogram. */
function seriesOf({ name, read }: Distribution): Series[] {
  return read().flatMap(({ counts: { bounds, counts, sum }, labels }) => {
    let total = 0;
    const buckets = [...counts].map((count, i) => {
      total += count;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  });
}

/** Returns one line for each sample of a reading. */
async function samplesOf({ labels = [], name, read }: Reading): Promise<Series[]> {
  return (await read()).map(([value, ...values]) => ({
    metricName: name,
    labels: Object.fromEntries(labels.map((label, i) => [label, values[i] ?? ''])),
    value,
  }));
}

/**
 * Returns a function that writes all metrics in the Prometheus text format, and the media type. Loads the library lazily, because
 * most processes do not need it. Yields the event loop between metrics.
 */
export async function openExposition(
  app: App,
  readings: readonly Reading[],
): Promise<{ readonly type: string; readonly write: () => Promise<string> }> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  /** A metric with external values. The library stores none of them but validates the names. */
  class ReadingMetric extends Gauge {
    constructor(
      private readonly reading: Pick<Reading, 'name' | 'help' | 'labels'> & { readonly type: string },
      private readonly series: () => Promise<Series[]>,
    ) {
      super({ name: reading.name, help: reading.help, labelNames: [...(reading.labels ?? [])], registers: [registry] });
    }

    /** Overrides the method that the registry calls for each metric. */
    async getForPromString(): Promise<object> {
      const { help, name, type } = this.reading;
      return { name, help, type, values: await this.series() };
    }
  }
  for (const reading of readings) new ReadingMetric(reading, () => samplesOf(reading));
  for (const distribution of distributions(app))
    new ReadingMetric({ ...distribution, type: 'histogram' }, async () => seriesOf(distribution));
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
