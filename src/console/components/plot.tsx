/** Plots values over time with uPlot, in the theme's colours and the container's width. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot, { type AlignedData, type Axis, type Options } from 'uplot';
import { sizeUnit } from '../format/size.ts';
import { sizeText } from '../format/text.ts';
import { instantText, language, numberText } from '../i18n/words.ts';

/** The options of a plot, without size and axes. */
export type PlotOptions = Pick<Options, 'series' | 'scales' | 'hooks'> & {
  readonly data: AlignedData;
  /** Whether the values are MiB. */
  readonly isSize?: boolean;
  /** Whether all values are integers. */
  readonly isWhole?: boolean;
};

const height = 150;
const hour = 3600;
const day = 24 * hour;

/** Returns the value of a style token in the current theme. */
export const colour = (token: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(token).trim();

/** Returns the font of the page for the canvas, which does not resolve CSS variables. */
const font = (): string => `12px ${getComputedStyle(document.body).fontFamily}`;

/** The common options of all axes. */
const plain = (): Axis => ({
  stroke: () => colour('--ink-muted'),
  font: font(),
  grid: { stroke: () => colour('--grid'), width: 1 },
  ticks: { show: false },
});

/** The time axis. Ticks are hours, days or months, depending on their distance. */
const timeAxis = (): Axis => ({
  ...plain(),
  space: 80,
  // Keep clear of the lowest label of the other axis.
  gap: 8,
  size: 30,
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

export function Plot({ drawing, label }: { readonly drawing: PlotOptions; readonly label: string }): JSX.Element {
  const container = useRef<HTMLDivElement>(null);
  // Redraw when the data or the language changes.
  const content = JSON.stringify([drawing.data, drawing.scales, language.value]);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const { data, isSize = false, isWhole = false, ...rest } = drawing;
    const plot = new UPlot(
      {
        ...rest,
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
        axes: [timeAxis(), valueAxis(isWhole, isSize)],
      },
      data,
      element,
    );
    const resizeObserver = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height });
    });
    resizeObserver.observe(element);
    const unmount = new AbortController();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw(), unmount);
    const themeObserver = new MutationObserver(() => plot.redraw());
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      unmount.abort();
      resizeObserver.disconnect();
      themeObserver.disconnect();
      plot.destroy();
    };
  }, [content]);
  return <div ref={container} class="canvas" role="img" aria-label={label} />;
}
