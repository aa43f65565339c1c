/**
 * The names in a record that is written out in the program, in their order. The compiler takes every key for a mere string,
 * as a value may have more members than its type says; such a record has not.
 */
export const namesOf = <K extends string>(record: Readonly<Partial<Record<K, unknown>>>): K[] =>
  Object.keys(record) as K[];
