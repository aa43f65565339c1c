import { controls, controlsInLines } from '../control-characters.ts';
import { UploadedFile } from '../http/multipart.ts';

const secretName = /password|secret|token/i;
/** What has many lines wherever it stands (core.md 1.5 "Control characters"). */
const linedNames: ReadonlySet<string> = new Set([
  'description',
  'contact_details',
  'message',
  'user_data',
  'certificate',
]);

/**
 * The error in a text inside a list or object, or in the name of a file, as the message about it is called. Undefined
 * when all are valid, and for a text that is a value by itself, which values.ts checks. Passwords and secrets may hold any
 * character.
 */
export function oddTextIn(value: unknown, name = ''): 'nul' | 'control' | 'string' | undefined {
  if (value instanceof UploadedFile) return oddOf(value.name, name);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const own = Array.isArray(value) ? name : key;
    const odd = typeof member === 'string' ? oddOf(member.trim(), own) : oddTextIn(member, own);
    if (odd) return odd;
  }
  return undefined;
}

function oddOf(text: string, name: string): 'nul' | 'control' | 'string' | undefined {
  if (secretName.test(name)) return undefined;
  if (text.includes('\0')) return 'nul';
  if (linedNames.has(name) ? controlsInLines.test(text.replaceAll('\r', '')) : controls.test(text)) return 'control';
  // Half of a surrogate pair is no character.
  return /\p{Surrogate}/u.test(text) ? 'string' : undefined;
}
