/** Counts by day as bars, with failures highlighted. Clicking a bar opens its day, if it has a page. */
import type { ComponentChildren, JSX } from 'preact';
import { axisTop } from '../format/numbers.ts';
import { dayText } from '../format/text.ts';
import { numberText, t } from '../i18n/words.ts';
import { ChartTable } from './chart.tsx';

/** The counts of one bar. */
export interface DayCount {
  /** UNIX timestamps. */
  readonly from: number;
  readonly to: number;
  readonly all: number;
  readonly bad?: number | undefined;
}

const width = 300;
const height = 100;

export function DayBars({
  title,
  bars,
  noun,
  hrefOfBar,
  caption,
}: {
  readonly title: string;
  readonly bars: readonly DayCount[];
  /** The counted objects, as a column heading. */
  readonly noun: string;
  readonly hrefOfBar?: (bar: DayCount) => string;
  /** Content below the title. */
  readonly caption?: ComponentChildren;
}): JSX.Element {
  const most = Math.max(...bars.map(({ all }) => all));
  const top = axisTop(most);
  const slot = width / bars.length;
  const hasBad = bars.some(({ bad = 0 }) => bad > 0);
  const spanText = ({ from, to }: DayCount): string =>
    to - from > 25 * 3600 ? `${dayText(from * 1000)} – ${dayText(to * 1000 - 1)}` : dayText(from * 1000);
  const ticks = [0, Math.floor(bars.length / 3), Math.floor((2 * bars.length) / 3), bars.length - 1];
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        {hasBad && (
          <span class="legend">
            <span>
              <i aria-hidden="true" />
              {t('all')}
            </span>
            <span>
              <i class="bad" aria-hidden="true" />
              {t('failed')}
            </span>
          </span>
        )}
        {caption}
      </figcaption>
      <div class="plot low">
        <div class="y" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{numberText(value, value >= 10_000)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t('{title}, up to {most}', { title, most: numberText(most) })}
        >
          {[0, 50, 100].map((y) => (
            <line key={y} class="grid" x1={0} x2={width} y1={y} y2={y} />
          ))}
          {bars.map((bar, index) => (
            // biome-ignore lint/a11y/noStaticElementInteractions: the table below has a link for each day
            <g
              key={bar.from}
              class={hrefOfBar && 'day-bar'}
              onClick={() => {
                if (hrefOfBar) location.hash = hrefOfBar(bar);
              }}
            >
              <title>{`${spanText(bar)}: ${numberText(bar.all)}`}</title>
              <rect class="hit" x={index * slot} width={slot} y={0} height={height} />
              <Column index={index} slot={slot} share={bar.all / top} />
              {bar.bad !== undefined && bar.bad > 0 && (
                <Column index={index} slot={slot} share={bar.bad / top} tone="bad" />
              )}
            </g>
          ))}
        </svg>
        <div class="x" aria-hidden="true">
          {[...new Set(ticks)].map((index) => (
            <span key={index}>{bars[index] && tickText(bars[index])}</span>
          ))}
        </div>
      </div>
      <ChartTable title={title} heads={[t('Day'), noun, ...(hasBad ? [t('Failed')] : [])]}>
        {bars.map((bar) => (
          <tr key={bar.from}>
            <th scope="row">{hrefOfBar ? <a href={hrefOfBar(bar)}>{spanText(bar)}</a> : spanText(bar)}</th>
            <td>{numberText(bar.all)}</td>
            {hasBad && <td>{numberText(bar.bad ?? 0)}</td>}
          </tr>
        ))}
      </ChartTable>
    </figure>
  );
}

/** Returns the axis label of a bar: its first day. */
const tickText = ({ from, to }: DayCount): string => {
  const now = Date.now() / 1000;
  return from <= now && now < to ? t('today') : dayText(from * 1000);
};

const Column = ({
  index,
  slot,
  share,
  tone = '',
}: {
  readonly index: number;
  readonly slot: number;
  readonly share: number;
  readonly tone?: string;
}): JSX.Element => (
  <rect
    class={`column ${tone}`}
    x={(index + 0.14) * slot}
    width={0.72 * slot}
    y={height * (1 - share)}
    height={height * share}
  />
);
