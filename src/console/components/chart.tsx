/** Charts, with the same data as a table for screen readers and exact numbers. */
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { hrefOf, place } from '../api/route.ts';
import { sizeText } from '../format/text.ts';
import { numberText, plural, t, timeText } from '../i18n/words.ts';
import { Icon } from './icons.tsx';
import { Choices } from './page.tsx';
import { bars, colour, type Drawing, Plot } from './plot.tsx';
import { PlainTable } from './table.tsx';

/** One line of a chart: a value for each of its times, undefined if unknown. */
interface Series {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  /** Whether it is the limit of the others. */
  readonly isLimit?: boolean;
}

/** Indexes of values without known neighbours. */
const alone = (values: Series['values']): number[] =>
  values.flatMap((value, at) =>
    value !== undefined && values[at - 1] === undefined && values[at + 1] === undefined ? [at] : [],
  );

/** The colour of a line. */
const tokenOf = ({ isLimit }: Series, index: number): string => (isLimit ? '--ink-muted' : `--series-${index + 1}`);

/**
 * Values over time. `times` are UNIX timestamps; with `isCount` each value covers the interval to the next one. The axis
 * starts at `min`.
 */
export function Chart({
  title,
  caption,
  times,
  series,
  isCount = false,
  isSize = false,
  min = 0,
  now,
}: {
  readonly title: string;
  /** The content above the chart, instead of the title and the latest value. */
  readonly caption?: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isCount?: boolean;
  /** Whether the values are MiB. */
  readonly isSize?: boolean;
  readonly min?: number;
  /** The present value, where the last one is an average. */
  readonly now?: number | undefined;
}): JSX.Element {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const max = Math.max(0, ...all);
  const words = (value: number): string => (isSize ? sizeText(value) : numberText(value));
  const visible = series.filter(({ values }) => values.some((value) => value !== undefined));
  const reading = useRef<HTMLSpanElement>(null);
  const [from = 0, second = from + 1] = times;
  const to = times.at(-1) ?? from;
  /** The values at the time under the pointer. */
  const read = (at: number | null | undefined): string => {
    const time = at === null || at === undefined ? undefined : times[at];
    if (time === undefined) return '';
    const known = visible.map(({ name, values }) => {
      const value = values[at ?? 0];
      return `${name} ${value === undefined ? '–' : words(value)}`;
    });
    return [timeText(time * 1000), ...known].join(' · ');
  };
  const drawing: Drawing = {
    data: [[...times], ...visible.map(({ values }) => values.map((value) => value ?? null))],
    isWhole: all.every(Number.isInteger),
    isSize,
    scales: {
      x: { range: [from, isCount ? to + second - from : Math.max(to, from + 1)] },
      y: { range: [min, max > min ? max + (max - min) * 0.1 : min + 1] },
    },
    series: [
      {},
      ...visible.map((one, index) => ({
        stroke: () => colour(tokenOf(one, index)),
        width: isCount ? 0 : 2,
        ...(one.isLimit && { dash: [6, 4] }),
        // Only a value without known neighbours needs a point.
        points: { show: true, size: 5, filter: () => alone(one.values) },
        // Above an axis from 0, the area is the amount.
        ...(!isCount && !one.isLimit && index === 0 && min === 0 && { fill: () => colour('--series-ground') }),
        ...(isCount && bars && { fill: () => colour(tokenOf(one, index)), paths: bars, points: { show: false } }),
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          if (reading.current) reading.current.textContent = read(cursor.idx);
        },
      ],
    },
  };
  return (
    <figure class="chart">
      <figcaption>
        <b>{caption ?? title}</b>
        {/* The table has the same for those who do not point at it. */}
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
        {caption === undefined && series[0] && <Latest values={series[0].values} now={now} words={words} />}
      </figcaption>
      <Plot drawing={drawing} label={t('{title}, up to {most}', { title, most: words(max) })} />
      <Behind title={title} heads={[t('Time'), ...visible.map(({ name }) => name)]}>
        {times.map((time, at) => (
          <tr key={time}>
            <th scope="row">{timeText(time * 1000)}</th>
            {visible.map(({ name, values }) => {
              const value = values[at];
              return <td key={name}>{value === undefined ? '–' : words(value)}</td>;
            })}
          </tr>
        ))}
      </Behind>
    </figure>
  );
}

/** The present value, and how much it differs from the first. */
function Latest({
  values,
  now,
  words,
}: {
  readonly values: Series['values'];
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
      {words(last)} {change !== 0 && <small>{`${change > 0 ? '+' : '−'}${words(Math.abs(change))}`}</small>}
    </span>
  );
}

/** A period with the token of its colour. */
interface Lasting {
  readonly start: number;
  readonly end: number;
  readonly token: string;
}

/** Periods as bars, one below the other, between two UNIX timestamps; `children` is the table with the same data. */
export function Lengths({
  title,
  from,
  to,
  rows,
  children,
}: {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly rows: readonly Lasting[];
  readonly children: ComponentChildren;
}): JSX.Element {
  const drawing: Drawing = {
    data: [[from, to], rows.map(() => null)],
    isBare: true,
    scales: { x: { range: [from, to] }, y: { range: [0, 1] } },
    series: [{}, { show: false }],
    hooks: {
      draw: [
        (plot) => {
          const { ctx, bbox } = plot;
          // Limits the thickness of a few bars.
          const slot = Math.min(bbox.height / rows.length, bbox.height / 6);
          rows.forEach(({ start, end, token }, index) => {
            const left = plot.valToPos(Math.max(from, start), 'x', true);
            const right = plot.valToPos(Math.min(to, end), 'x', true);
            // A bar that has just begun stays visible.
            const length = Math.max(right - left, bbox.width / 100);
            ctx.fillStyle = colour(token);
            ctx.fillRect(
              Math.min(left, bbox.left + bbox.width - length),
              bbox.top + slot * (index + 0.2),
              length,
              slot * 0.6,
            );
          });
        },
      ],
    },
  };
  return (
    <figure class="chart">
      <Plot drawing={drawing} label={title} />
      {children}
    </figure>
  );
}

/** The table with the data of a chart, closed by default. */
export function Behind({
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
      <summary>
        <Icon name="next" /> {t('View as table')}
      </summary>
      <PlainTable label={title} heads={heads}>
        {children}
      </PlainTable>
    </details>
  );
}

/** The available periods in days. */
const ranges = [7, 30, 90, 365];

/** The period of the address, in days. */
export const daysShown = (): number => Number(place.value.query.get('days') ?? 30) || 30;

/** The time range of the address, as UNIX timestamps rounded to the hour, so that a refresh reads the same. */
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
        href: hrefOf(path, { days: String(days) }),
        title: days === 365 ? t('1 year') : plural(days, '{count} day', '{count} days'),
        isCurrent: days === daysShown(),
      }))}
    />
  );
}
