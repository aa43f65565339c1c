/** Drawings over time on a canvas, by uPlot: in the colours of the present theme, as wide as the place they are in. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot, { type AlignedData, type Axis, type Options } from 'uplot';
import { sizeUnit } from '../format/size.ts';
import { sizeText } from '../format/text.ts';
import { instantText, language, numberText } from '../i18n/words.ts';

/** The contents of a drawing: all but its size and axes. */
export type Drawing = Pick<Options, 'series' | 'scales' | 'hooks'> & {
  readonly data: AlignedData;
  /** Whether the values are MiB. */
  readonly isSize?: boolean;
  /** Whether there is nothing between whole numbers. */
  readonly isWhole?: boolean;
  /** Whether the values need no axis. */
  readonly isBare?: boolean;
};

const height = 150;
const hour = 3600;
const day = 24 * hour;

/** A token of the style sheet as it is in the present theme. */
export const colour = (token: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(token).trim();

/** The font of the page for a canvas, which knows no variables. */
const font = (): string => `12px ${getComputedStyle(document.body).fontFamily}`;

/** What all axes have. */
const plain = (): Axis => ({
  stroke: () => colour('--ink-muted'),
  font: font(),
  grid: { stroke: () => colour('--grid'), width: 1 },
  ticks: { show: false },
});

/** Times as people write them: the hour where ticks are that close, else the day or the month. */
const timeAxis = (): Axis => ({
  ...plain(),
  space: 80,
  size: 26,
  grid: { show: false },
  values: (_, splits, __, ___, step) =>
    splits.map((second) =>
      instantText(
        second * 1000,
        step < day
          ? { hour: 'numeric', minute: '2-digit', ...(isMidnight(second) && { day: 'numeric', month: 'short' }) }
          : step < 28 * day
            ? { day: 'numeric', month: 'short' }
            : { month: 'short', year: 'numeric' },
      ),
    ),
});

const isMidnight = (second: number): boolean => {
  const date = new Date(second * 1000);
  return date.getHours() === 0 && date.getMinutes() === 0;
};

/** 1, 2, 4 … MiB up to 1024 TiB. */
const sizeSteps = Array.from({ length: 31 }, (_, power) => 2 ** power);

/** 1, 2, 5, 10, 20 … up to a billion. */
const wholeSteps = Array.from({ length: 10 }).flatMap((_, power) => [1, 2, 5].map((digit) => digit * 10 ** power));

const valueAxis = (isWhole: boolean, isSize: boolean): Axis => ({
  ...plain(),
  space: 32,
  size: (_, values) => 14 + 7 * Math.max(1, ...(values ?? []).map((value) => value.length)),
  values: (_, splits) => {
    const unit = sizeUnit(Math.max(...splits.map(Math.abs)));
    return splits.map((value) => (isSize ? sizeText(value, unit) : numberText(value, Math.abs(value) >= 10_000)));
  },
  ...(isSize ? { incrs: sizeSteps } : isWhole && { incrs: wholeSteps }),
});

export function Plot({ drawing, label }: { readonly drawing: Drawing; readonly label: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  // Other data or another language need another drawing.
  const shown = JSON.stringify([drawing.data, drawing.scales, language.value]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const { data, isBare = false, isSize = false, isWhole = false, ...rest } = drawing;
    const plot = new UPlot(
      {
        ...rest,
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        axes: [timeAxis(), isBare ? { show: false } : valueAxis(isWhole, isSize)],
      },
      data,
      element,
    );
    const sized = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height });
    });
    sized.observe(element);
    const leaving = new AbortController();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw(), leaving);
    const themed = new MutationObserver(() => plot.redraw());
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      leaving.abort();
      sized.disconnect();
      themed.disconnect();
      plot.destroy();
    };
  }, [shown]);
  return <div ref={place} class="canvas" role="img" aria-label={label} />;
}

/** Bars from one time to the next, for counts. */
export const bars = UPlot.paths.bars?.({ size: [0.85, 60], align: 1 });
