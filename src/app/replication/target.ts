/** What every server reads as it stands: no escape that stands for another separator, a space or a further escape. */
const plainPath = /^[!-~]*$/;
const ambiguous = /[\\%#]/;
const dots = /^\.\.?(;|$)/;

/**
 * Whether a target stays below a path that it is appended to, whatever the servers on its way make of it: some decode it before
 * they resolve dots, some take a backslash for a slash, and some drop what follows a semicolon.
 */
export function staysBelow(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return false;
  }
  const segments = decoded.split('/');
  return (
    path.startsWith('/') &&
    plainPath.test(decoded) &&
    !ambiguous.test(decoded) &&
    segments.length === path.split('/').length &&
    !segments.some((segment) => dots.test(segment))
  );
}
