/** Calculations for charts and forecasts. */

/** Returns the smallest of 2, 4, 10, 20, 40, 100 … that is not below a number, so that half of it is whole. */
export function axisTop(most: number): number {
  for (let power = 1; ; power *= 10) for (const digit of [2, 4, 10]) if (digit * power >= most) return digit * power;
}

/** Maximum forecast. Later days are too uncertain. */
const maxDays = 365;

/**
 * Returns the days until a limit is reached if usage keeps growing as it has since `before`, `days` ago. Returns undefined if it
 * does not grow, is already full, or will not be full within a year.
 */
export function daysUntilFull(before: number, usage: number, limit: number, days: number): number | undefined {
  const pace = (usage - before) / days;
  if (!(pace > 0) || limit < 0 || usage >= limit) return undefined;
  const daysLeft = (limit - usage) / pace;
  return daysLeft <= maxDays ? Math.ceil(daysLeft) : undefined;
}
