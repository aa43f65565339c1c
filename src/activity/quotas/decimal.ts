/** Formats a quota with at least one decimal for messages and contexts. */
export const decimal = (value: number): string => (Number.isSafeInteger(value) ? `${value}.0` : format(value));

let decimals: Intl.NumberFormat | undefined;

/** Creates the formatter late: few servers need it, and the first one of a process takes 10 ms. */
function format(value: number): string {
  decimals ??= new Intl.NumberFormat('en-US', {
    useGrouping: false,
    minimumFractionDigits: 1,
    maximumFractionDigits: 20,
  });
  return decimals.format(value);
}
