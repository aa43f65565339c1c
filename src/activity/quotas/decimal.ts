/** A number with at least one decimal, as messages and contexts write quotas. */
export const decimal = (value: number): string => (Number.isSafeInteger(value) ? `${value}.0` : format(value));

let decimals: Intl.NumberFormat | undefined;

/** Few servers have such quotas, and the first formatter of a process takes 10 ms. */
function format(value: number): string {
  decimals ??= new Intl.NumberFormat('en-US', {
    useGrouping: false,
    minimumFractionDigits: 1,
    maximumFractionDigits: 20,
  });
  return decimals.format(value);
}
