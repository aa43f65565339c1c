/** Longest username (core.md 4.1). */
const maxLength = 30;

/** Returns the part of a name that usernames may contain: lower-case Latin letters and digits, separated by dashes. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');

/**
 * Returns the username of a new service account: `sa-<8 hex>-<slug>`, cut to 30 characters. `hex` returns 8 random hexadecimal
 * digits; it is called again while the username is taken.
 */
export function usernameOf(name: string, hex: () => string, isTaken: (username: string) => boolean): string {
  const slug = slugOf(name) || 'account';
  for (;;) {
    const username = `sa-${hex()}-${slug}`.slice(0, maxLength).replace(/-$/, '');
    if (!isTaken(username)) return username;
  }
}
