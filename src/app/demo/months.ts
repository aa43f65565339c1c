/* Months as numbers, so that one can be counted from another. */

/** The month of an instant, counted from January of the year 0. */
export function monthOf(instant: number): number {
  const date = new Date(instant / 1000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** A month as `YYYY-MM`. */
export const monthName = (month: number): string =>
  `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;

/** The number of a month that is written as `YYYY-MM`; undefined for any other text. */
export function parseMonth(text: string): number | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  return year === undefined ? undefined : Number(year) * 12 + Number(month) - 1;
}
