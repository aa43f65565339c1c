/** Charts: drawn as SVG for those who look, with the same as a table for those who listen or want the numbers. */
import type { ComponentChildren, JSX } from 'preact';
import { hrefOf, place } from './route.ts';
import { amountText, numberText, t, timeText } from './words/words.ts';

/** One line of a chart: a value for each of its times, undefined where nothing is known. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  /** Whether it is what the others must stay below. */
  readonly isLimit?: boolean;
}

const width = 600;
const height = 140;

/** The points of a line, with a gap wherever nothing is known. */
function lineOf(values: readonly (number | undefined)[], most: number): string {
  const step = width / Math.max(1, values.length - 1);
  return values
    .map((value, index) => {
      if (value === undefined) return '';
      const isStart = index === 0 || values[index - 1] === undefined;
      const y = height - (value / most) * (height - 4) - 2;
      return `${isStart ? 'M' : 'L'}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join('');
}

/** Values over time. `times` are UNIX timestamps; with `isCount` each value is of the time from one to the next. */
export function Chart({
  title,
  times,
  series,
  isCount = false,
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isCount?: boolean;
}): JSX.Element {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const greatest = Math.max(0, ...all);
  // Room for the number above the lines.
  const most = greatest === 0 ? 1 : greatest * 1.15;
  const [from = 0] = times;
  const to = times.at(-1) ?? from;
  const shown = series.filter(({ values }) => values.some((value) => value !== undefined));
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        {shown.length > 1 && (
          <span class="legend">
            {shown.map(({ name, isLimit }, index) => (
              <span key={name} class={isLimit ? 'limit' : `line${index}`}>
                {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div class="plot">
        <span class="none">{numberText(greatest)}</span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t('{title}, up to {most}', { title, most: greatest })}
        >
          {shown.map(({ name, values, isLimit }, index) =>
            isCount ? (
              values.map((value = 0, at) => {
                const bar = (value / most) * (height - 4);
                const slot = width / values.length;
                return (
                  <rect key={times[at]} x={at * slot + slot * 0.1} y={height - bar} width={slot * 0.8} height={bar} />
                );
              })
            ) : (
              <path key={name} class={isLimit ? 'limit' : `line${index}`} d={lineOf(values, most)} />
            ),
          )}
        </svg>
      </div>
      <div class="ends none">
        <span>{timeText(from * 1000)}</span>
        <span>{timeText(to * 1000)}</span>
      </div>
      <Behind title={title} heads={[t('Time'), ...shown.map(({ name }) => name)]}>
        {times.map((time, at) => (
          <tr key={time}>
            <th scope="row">{timeText(time * 1000)}</th>
            {shown.map(({ name, values }) => {
              const value = values[at];
              return <td key={name}>{value === undefined ? '–' : numberText(value)}</td>;
            })}
          </tr>
        ))}
      </Behind>
    </figure>
  );
}

/** The table behind a chart, which opens on demand. */
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
    <details>
      <summary>{t('As a table')}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section class="scrolled" tabIndex={0} aria-label={title}>
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
    </details>
  );
}

/** The days that can be looked at. */
const ranges = [7, 30, 90, 365];

/** How many days the address asks for. */
export const daysAsked = (): number => Number(place.value.query.get('days') ?? 30) || 30;

/** The time that is looked at, as UNIX timestamps: to the hour, so that the same is not asked for anew with every look. */
export function span(): { readonly from: number; readonly to: number } {
  const to = Math.ceil(Date.now() / 3_600_000) * 3600;
  return { from: to - daysAsked() * 24 * 3600, to };
}

/** Links to the days that can be looked at, each of which is an address. */
export function Ranges(): JSX.Element {
  const { path } = place.value;
  return (
    <nav aria-label={t('Time range')} class="lists">
      {ranges.map((days) => (
        <a
          key={days}
          href={hrefOf(path, { days: String(days) })}
          aria-current={days === daysAsked() ? 'true' : undefined}
        >
          {amountText(days, 'day')}
        </a>
      ))}
    </nav>
  );
}
