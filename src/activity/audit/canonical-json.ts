import { loneSurrogate } from '../../kernel/control-characters.ts';

const loneSurrogates = new RegExp(loneSurrogate, 'gu');

/** Serialises JSON by RFC 8785: members sorted by UTF-16 units, no whitespace. A lone surrogate becomes U+FFFD. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.replace(loneSurrogates, '\ufffd'));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`;
}
