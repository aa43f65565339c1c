/** A number with at least one decimal, as messages and contexts write quotas. */
export const decimal = (value: number): string => decimals.format(value);

const decimals = new Intl.NumberFormat('en-US', {
  useGrouping: false,
  minimumFractionDigits: 1,
  maximumFractionDigits: 20,
});
