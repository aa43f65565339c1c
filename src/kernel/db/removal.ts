/** Rows that a step removes. Requests that write wait for the commit of a step, so it stays small. */
const rowsPerStep = 20;

/**
 * Runs one step of a long removal, inside `write`. `remove` takes the maximum number of rows and returns how many it removed.
 * Returns whether more may be left.
 */
export const removeStep = (remove: (limit: number) => number): boolean => remove(rowsPerStep) === rowsPerStep;
