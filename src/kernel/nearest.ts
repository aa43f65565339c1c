/** Returns the edit distance of two words, with transpositions; Infinity above `max`. */
function distance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY;
  let [before, last]: [readonly number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, last] = [last, row];
  }
  const edits = last[b.length] ?? 0;
  return edits > max ? Number.POSITIVE_INFINITY : edits;
}

/** Maximum length. Longer words are not typing errors. */
const maxLength = 64;

/** Returns the known word nearest to an unknown one. At most a quarter of its characters may differ. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > maxLength) return undefined;
  let max = Math.max(1, Math.floor(word.length / 4));
  let result: string | undefined;
  for (const one of known) {
    const edits = distance(word.toLowerCase(), one.toLowerCase(), max);
    if (edits > max) continue;
    result = one;
    max = edits - 1;
  }
  return result;
}

/** Returns the end of a message about an unknown word: `; did you mean port?`, or nothing. */
export function suggestion(word: string, known: Iterable<string>, quoted = (name: string): string => name): string {
  const name = nearest(word, known);
  return name === undefined ? '' : `; did you mean ${quoted(name)}?`;
}
