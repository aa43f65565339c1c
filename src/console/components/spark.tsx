/** A sparkline beside the latest value. */
import type { JSX } from 'preact';

const width = 300;
const height = 100;

/** Values over time, without undefined ones. Decorative, because the number is beside it. */
export function Sparkline({ values }: { readonly values: readonly (number | undefined)[] }): JSX.Element {
  const known = values.flatMap((value, at) => (value === undefined ? [] : [[at, value] as const]));
  const most = Math.max(1, ...known.map(([, value]) => value));
  const step = width / Math.max(1, values.length - 1);
  const points = known.map(
    ([at, value]) => `${(at * step).toFixed(1)} ${(height * (1 - (0.7 * value) / most)).toFixed(1)}`,
  );
  const [first = '0 100'] = points;
  const last = points.at(-1) ?? first;
  const line = `M${points.join('L')}`;
  return (
    <div class="spark">
      {points.length > 1 && (
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="area" d={`${line}L${last.split(' ')[0]} ${height}L${first.split(' ')[0]} ${height}Z`} />
          <path class="series" d={line} />
        </svg>
      )}
    </div>
  );
}
