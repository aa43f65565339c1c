import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A value, and the values of the labels of its metric. */
export type Sample = readonly [value: number, ...labels: string[]];

/** What the operator may read at a moment. */
export interface Reading {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels?: readonly string[];
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** Milliseconds between two looks at the event loop. */
const resolution = 20;

/** Measures for how long the event loop was kept, from now on. Ended by `stop`. */
export function watchEventLoop(): { readonly reading: Reading; readonly stop: () => void } {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  return {
    reading: {
      name: 'tenantry_event_loop_delay_seconds',
      help: 'For how long the event loop was kept from its next turn since the metrics were read before, by percentile.',
      type: 'gauge',
      labels: ['percentile'],
      read: () => {
        // What is measured is the time between two looks, in nanoseconds.
        const beyond = (percentile: number): number =>
          Math.max(0, delays.percentile(percentile) / 1e6 - resolution) / 1000;
        const samples: Sample[] = [50, 99, 100].map((percentile) => [beyond(percentile), String(percentile)]);
        delays.reset();
        return samples;
      },
    },
    stop: () => delays.disable(),
  };
}

/** The process, by the names that every program gives these. */
export const processReadings: readonly Reading[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, in seconds.',
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
    help: 'When the process began, in seconds since 1970.',
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
