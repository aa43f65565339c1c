/** Numbers the month of an instant, from January of the year 0. */
export function monthOf(instant: number): number {
  const date = new Date(instant / 1000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Formats a month as `YYYY-MM`. */
export const monthName = (month: number): string =>
  `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;

/** Parses `YYYY-MM` to the number of the month; undefined for any other value. */
export function monthIn(value: unknown): number | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(String(value)) ?? [];
  return year === undefined ? undefined : Number(year) * 12 + Number(month) - 1;
}
