/** How a stored secret reads, and what leaves it as it is when written back (services.md 2.2). */
export const masked = '********';

/** What a written secret does: keeps the stored one, clears it, or replaces it. */
type SecretChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'replace'; readonly value: string };

/** Reads a secret from a body; a missing one keeps its stored value. */
export function secretChange(value: string | null | undefined): SecretChange {
  if (value === null) return { kind: 'clear' };
  return value === undefined || value === '' || value === masked ? { kind: 'keep' } : { kind: 'replace', value };
}
