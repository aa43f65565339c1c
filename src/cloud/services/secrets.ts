/** Placeholder for a stored secret. Writing it back leaves the secret unchanged (services.md 2.2). */
export const masked = '********';

/** The effect of a written secret: it keeps, clears or replaces the stored one. */
type SecretChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'replace'; readonly value: string };

/** Reads a secret from a body. A missing secret keeps its stored value. */
export function secretChange(value: string | null | undefined): SecretChange {
  if (value === null) return { kind: 'clear' };
  return value === undefined || value === '' || value === masked ? { kind: 'keep' } : { kind: 'replace', value };
}
