/** Charts, with a table of the same data for screen readers and exact numbers. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { hrefOf, place, withParameter } from '../api/route.ts';
import { percentText, sizeText } from '../format/text.ts';
import { numberText, plural, t, timeText } from '../i18n/words.ts';
import { Choices } from './page.tsx';
import { colour, Plot, type PlotOptions } from './plot.tsx';
import { PlainTable } from './table.tsx';

/** One line of a chart: a value for each time, undefined if unknown. */
interface Series {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  /** Whether it is the limit of the other lines. */
  readonly isLimit?: boolean;
}

/** Returns the indexes of values without known neighbours. */
const alone = (values: Series['values']): number[] =>
  values.flatMap((value, index) =>
    value !== undefined && values[index - 1] === undefined && values[index + 1] === undefined ? [index] : [],
  );

/** Returns the colour token of a line. */
const tokenOf = ({ isLimit }: Series, index: number): string => (isLimit ? '--ink-muted' : `--series-${index + 1}`);

/** Returns a plot of lines over times. `onCursor` receives the index of the time under the pointer. */
function drawingOf(
  times: readonly number[],
  lines: readonly Series[],
  isSize: boolean,
  [min, max]: readonly [min: number, max: number],
  onCursor: (at: number | null | undefined) => void,
): PlotOptions {
  const [from = 0] = times;
  const to = times.at(-1) ?? from;
  return {
    data: [[...times], ...lines.map(({ values }) => values.map((value) => value ?? null))],
    isWhole: lines.every(({ values }) => values.every((value) => value === undefined || Number.isInteger(value))),
    isSize,
    scales: {
      x: { range: [from, Math.max(to, from + 1)] },
      y: { range: [min, max > min ? max + (max - min) * 0.1 : min + 1] },
    },
    series: [
      {},
      ...lines.map((one, index) => ({
        stroke: () => colour(tokenOf(one, index)),
        width: 2,
        ...(one.isLimit && { dash: [6, 4] }),
        // Only isolated values need a point.
        points: { show: true, size: 5, filter: () => alone(one.values) },
        // Fill the area only if the axis starts at 0, where it is proportional to the amount.
        ...(!one.isLimit && index === 0 && min === 0 && { fill: () => colour('--series-ground') }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx)] },
  };
}

/** Values over time. `times` are UNIX timestamps. The axis starts at `min`. */
export function Chart({
  title,
  caption,
  times,
  series,
  isSize = false,
  min = 0,
  now,
}: {
  readonly title: string;
  /** Content below the title, instead of the latest value. */
  readonly caption?: ComponentChildren;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Whether the values are MiB. */
  readonly isSize?: boolean;
  readonly min?: number;
  /** The current value, if the last one is an average. */
  readonly now?: number | undefined;
}): JSX.Element {
  const max = Math.max(0, ...series.flatMap(({ values }) => values.filter((value) => value !== undefined)));
  const words = (value: number): string => (isSize ? sizeText(value) : numberText(value));
  const visible = series.filter(({ values }) => values.some((value) => value !== undefined));
  const limit = visible.find(({ isLimit }) => isLimit)?.values.findLast((value) => value !== undefined);
  const reading = useRef<HTMLSpanElement>(null);
  /** Returns the values at the time under the pointer. */
  const read = (index: number | null | undefined): string => {
    const time = index === null || index === undefined ? undefined : times[index];
    if (time === undefined) return '';
    const known = visible.map(({ name, values }) => {
      const value = values[index ?? 0];
      return `${name} ${value === undefined ? '–' : words(value)}`;
    });
    return [timeText(time * 1000), ...known].join(' · ');
  };
  const drawing = drawingOf(times, visible, isSize, [min, max], (at) => {
    if (reading.current) reading.current.textContent = read(at);
  });
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        {/* The table has the same values for keyboard and screen reader users. */}
        <span ref={reading} class="muted small" aria-hidden="true" />
        {visible.length > 1 && (
          <span class="legend">
            {visible.map(({ name, isLimit }, index) => (
              <span key={name}>
                <i class={isLimit ? 'limit-key' : ['', 'two', 'three'][index]} aria-hidden="true" />
                {name}
              </span>
            ))}
          </span>
        )}
        {caption ?? (series[0] && <Latest values={series[0].values} limit={limit} now={now} words={words} />)}
      </figcaption>
      <Plot drawing={drawing} label={t('{title}, up to {most}', { title, most: words(max) })} />
      <ChartTable title={title} heads={[t('Time'), ...visible.map(({ name }) => name)]}>
        {times.map((time, index) => (
          <tr key={time}>
            <th scope="row">{timeText(time * 1000)}</th>
            {visible.map(({ name, values }) => {
              const value = values[index];
              return <td key={name}>{value === undefined ? '–' : words(value)}</td>;
            })}
          </tr>
        ))}
      </ChartTable>
    </figure>
  );
}

/** The current value, its difference from the first value, and its share of the limit. */
function Latest({
  values,
  limit,
  now,
  words,
}: {
  readonly values: Series['values'];
  readonly limit: number | undefined;
  readonly now: number | undefined;
  readonly words: (value: number) => string;
}): JSX.Element | null {
  const known = values.filter((value) => value !== undefined);
  const [first] = known;
  const last = now ?? known.at(-1);
  if (first === undefined || last === undefined) return null;
  const change = now === undefined ? Math.round((last - first) * 100) / 100 : Math.round(last - first);
  return (
    <span class="now">
      {words(last)} {change !== 0 && <small>{`${change > 0 ? '+' : '−'}${words(Math.abs(change))}`}</small>}{' '}
      {limit !== undefined && limit > 0 && (
        <small>{t('{share} of the limit {limit}', { share: percentText(last / limit), limit: words(limit) })}</small>
      )}
    </span>
  );
}

/** The data of a chart as a table, collapsed by default. */
export function ChartTable({
  title,
  heads,
  children,
}: {
  readonly title: string;
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details class="fold">
      <summary>{t('View as table')}</summary>
      <PlainTable label={title} heads={heads}>
        {children}
      </PlainTable>
    </details>
  );
}

/** The available periods in days. */
const ranges = [7, 30, 90, 365];

/** Returns the period in the address, in days. */
export const daysShown = (): number => Number(place.value.query.get('days') ?? 30) || 30;

/** Returns the time range in the address as UNIX timestamps, rounded to the hour so that a refresh sends the same request. */
export function span(): { readonly from: number; readonly to: number } {
  const to = Math.ceil(Date.now() / 3_600_000) * 3600;
  return { from: to - daysShown() * 24 * 3600, to };
}

/** Links to the available periods. */
export function Ranges({ days: lengths = ranges }: { readonly days?: readonly number[] }): JSX.Element {
  const { path } = place.value;
  return (
    <Choices
      label={t('Time range')}
      tabs={lengths.map((days) => ({
        href: hrefOf(path, withParameter('days', String(days))),
        title: days === 365 ? t('1 year') : plural(days, '{count} day', '{count} days'),
        isCurrent: days === daysShown(),
      }))}
    />
  );
}

const sparkWidth = 300;
const sparkHeight = 100;

/** Values over time, without undefined ones. Decorative, because the number is beside it. */
export function Sparkline({ values }: { readonly values: readonly (number | undefined)[] }): JSX.Element {
  const known = values.flatMap((value, index) => (value === undefined ? [] : [[index, value] as const]));
  const most = Math.max(1, ...known.map(([, value]) => value));
  const step = sparkWidth / Math.max(1, values.length - 1);
  const points = known.map(
    ([index, value]) => `${(index * step).toFixed(1)} ${(sparkHeight * (1 - (0.7 * value) / most)).toFixed(1)}`,
  );
  const [first = '0 100'] = points;
  const last = points.at(-1) ?? first;
  const line = `M${points.join('L')}`;
  return (
    <div class="spark">
      {points.length > 1 && (
        <svg viewBox={`0 0 ${sparkWidth} ${sparkHeight}`} preserveAspectRatio="none" aria-hidden="true">
          <path
            class="area"
            d={`${line}L${last.split(' ')[0]} ${sparkHeight}L${first.split(' ')[0]} ${sparkHeight}Z`}
          />
          <path class="series" d={line} />
        </svg>
      )}
    </div>
  );
}
