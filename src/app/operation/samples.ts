import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A value with the values of its labels. */
export type Sample = readonly [value: number, ...labels: string[]];

/** A metric with a function that reads its samples. */
export interface Reading {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels?: readonly string[];
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** Milliseconds between two measurements. */
const resolutionMs = 20;

/** Measures delays of the event loop until `stop`. */
export function watchEventLoop(): { readonly reading: Reading; readonly stop: () => void } {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  return {
    reading: {
      name: 'tenantry_event_loop_delay_seconds',
      help: 'Delay of the event loop since the last scrape, by percentile.',
      type: 'gauge',
      labels: ['percentile'],
      read: () => {
        // The monitor returns the nanoseconds between two measurements, which include the resolution.
        const delay = (percentile: number): number =>
          Math.max(0, delays.percentile(percentile) / 1e6 - resolutionMs) / 1000;
        const samples: Sample[] = [50, 99, 100].map((percentile) => [delay(percentile), String(percentile)]);
        delays.reset();
        return samples;
      },
    },
    stop: () => delays.disable(),
  };
}

/** Metrics of the process, with the standard names of Prometheus clients. */
export const processReadings: readonly Reading[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, in seconds.',
    type: 'counter',
    read: () => {
      const { system, user } = process.cpuUsage();
      return [[(system + user) / 1e6]];
    },
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process, in bytes.',
    type: 'gauge',
    read: () => [[process.memoryUsage.rss()]],
  },
  {
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    type: 'gauge',
    read: () => [[Math.round(Date.now() / 1000 - process.uptime())]],
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Memory that JavaScript uses, in bytes.',
    type: 'gauge',
    read: () => [[process.memoryUsage().heapUsed]],
  },
];
