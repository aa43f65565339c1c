import type { Case } from './cases.ts';
import type { Measured } from './load.ts';
import type { Size } from './seed.ts';

/** The figures of one server in a round. */
export interface Round extends Measured {
  /** CPU time per request in microseconds, in all threads of the server; undefined if unknown. */
  readonly processor: number | undefined;
}

/** The rounds of one server in one case and database. */
export type Rounds = readonly Round[];

/** The rounds of every server in one case and database. */
export interface Result {
  readonly of: Case;
  readonly size: Size;
  readonly tenantry: Rounds;
  readonly peer: Rounds;
  readonly bare: Rounds;
}

/** A target of the table, and whether it is met. */
interface Target {
  readonly text: string;
  readonly met: boolean;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

/** Returns the median of the ratios within each round, because other load affects both sides of a round. */
const ratio = (a: Rounds, b: Rounds): number =>
  median(a.map((measured, i) => measured.perSecond / (b[i] as Measured).perSecond));

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const speed = (rounds: Rounds): string => whole(median(rounds.map((measured) => measured.perSecond)));
const latency = (rounds: Rounds): string => {
  const of = (key: 'p50' | 'p99'): string => median(rounds.map((measured) => measured[key])).toFixed(1);
  return `${of('p50')} / ${of('p99')}`;
};
const processor = (rounds: Rounds): string => {
  const used = rounds.map((round) => round.processor).filter((value) => value !== undefined);
  return used.length === 0 ? '' : whole(median(used));
};
const percent = (value: number): string => `${Math.round(value * 100)} %`;
/** Formats a target, with a mark that shows whether it is met. */
export const checked = ({ text, met }: Target): string => `${text} ${met ? '✓' : '✗ missed'}`;

/** The table of all cases as Markdown. */
export function table(results: readonly Result[]): string {
  const lines = results.map((result) => {
    const smaller = results.find(({ of, size }) => of === result.of && size.customers < result.size.customers);
    return row([
      result.of.title,
      result.size.name,
      ...[result.tenantry, result.peer, result.bare].flatMap((rounds) => [
        speed(rounds),
        latency(rounds),
        processor(rounds),
      ]),
      percent(ratio(result.tenantry, result.bare)),
      `${ratio(result.tenantry, result.peer).toFixed(1)} ×`,
      smaller ? percent(ratio(result.tenantry, smaller.tenantry)) : '',
      targets(result, smaller).map(checked).join('; '),
    ]);
  });
  const head = [
    'Case',
    'Customers',
    'Tenantry /s',
    'p50 / p99 ms',
    'processor µs',
    'Peer /s',
    'p50 / p99 ms',
    'processor µs',
    'node:http /s',
    'p50 / p99 ms',
    'processor µs',
    'of node:http',
    'of the peer',
    'of 100 customers',
    'Targets',
  ];
  return [row(head), row(head.map((_, i) => (i > 0 && i < head.length - 1 ? '--:' : ':--'))), ...lines].join('\n');
}

/** The paragraph of the manual about speed, for the largest measured database, as Markdown. */
export function shortTable(results: readonly Result[]): string {
  const largest = Math.max(...results.map(({ size }) => size.customers));
  const lines = results
    .filter(({ size }) => size.customers === largest)
    .map(({ of, tenantry, peer, bare }) =>
      row([
        of.title,
        speed(tenantry),
        latency(tenantry),
        processor(tenantry),
        `${ratio(tenantry, peer).toFixed(1)} ×`,
        percent(ratio(tenantry, bare)),
      ]),
    );
  const head = ['Request', 'per second', 'p50 / p99 ms', 'CPU µs', 'vs Fastify + SQL', 'vs node:http'];
  return [row(head), row(head.map((_, i) => (i > 0 ? '--:' : ':--'))), ...lines].join('\n');
}

function targets(result: Result, smaller: Result | undefined): Target[] {
  const { ofBare, ofPeer, ofSmaller } = result.of;
  return [
    ...(ofBare === undefined
      ? []
      : [{ text: `≥ ${percent(ofBare)} of node:http`, met: ratio(result.tenantry, result.bare) >= ofBare }]),
    ...(ofPeer === undefined
      ? []
      : [{ text: `≥ ${ofPeer} × peer`, met: ratio(result.tenantry, result.peer) >= ofPeer }]),
    // growth.ts evaluates cases with their own target: there, databases of all sizes alternate, with the same active users in
    // each.
    ...(smaller && ofSmaller === undefined
      ? [{ text: '≥ 75 % of 100', met: ratio(result.tenantry, smaller.tenantry) >= 0.75 }]
      : []),
  ];
}

/** The table of start, memory and size as Markdown. */
export function footprintTable(
  figures: readonly { what: string; value: number | undefined; unit: string; atMost?: number }[],
): string {
  const lines = figures.map(({ what, value, unit, atMost }) =>
    value === undefined
      ? row([what, 'unknown here', ''])
      : row([
          what,
          `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`,
          atMost === undefined ? '' : checked({ text: `≤ ${atMost} ${unit}`, met: value <= atMost }),
        ]),
  );
  return [row(['Figure', 'Measured', 'Target']), row([':--', '--:', ':--']), ...lines].join('\n');
}

/** A row of a Markdown table. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
