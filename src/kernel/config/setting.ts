import { day, hour, minute, second } from '../clock.ts';
import { isNetwork } from '../net/networks.ts';
import { baseOf, urlOf, withoutCredentials } from '../url.ts';

/*
 * The kinds of settings, with parsers for texts from environment variables and options. Durations are in microseconds.
 */

/** Declares a setting: its help and its parser. */
export interface Setting<T> {
  readonly kind: string;
  readonly fallback: T;
  readonly help: string;
  /** Whether the value contains credentials. If so, it may come from a separate file and is never printed. */
  readonly isSecret?: boolean;
  /** Parses the text of an environment variable or option. Throws a readable error that names the rule. */
  readonly read: (text: string) => T;
}

/** Marks a setting with credentials. */
export const secret = <T>(setting: Setting<T>): Setting<T> => ({ ...setting, isSecret: true });

/** A text, or null if empty. */
export const text = (fallback: string | null, help: string): Setting<string | null> => ({
  kind: 'text',
  fallback,
  help,
  read: (value) => value || null,
});

/** A non-empty text. */
export const requiredText = (fallback: string, help: string): Setting<string> => ({
  kind: 'text',
  fallback,
  help,
  read: (value) => {
    if (value === '') throw new Error('must not be empty');
    return value;
  },
});

/** A whole number in a range. */
export const integer = (fallback: number, help: string, minimum = 0, maximum = 2 ** 31 - 1): Setting<number> => ({
  kind: 'integer',
  fallback,
  help,
  read: (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < minimum || number > maximum) {
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
    }
    return number;
  },
});

/** A whole number in a range, or null if unset. */
export const optionalInteger = (help: string, minimum: number, maximum = 2 ** 31 - 1): Setting<number | null> => ({
  ...integer(minimum, help, minimum, maximum),
  fallback: null,
});

/** A boolean, in its common spellings. */
export const flag = (fallback: boolean, help: string): Setting<boolean> => ({
  kind: 'boolean',
  fallback,
  help,
  read: (value) => {
    if (/^(true|t|yes|y|on|1|)$/i.test(value)) return true;
    if (/^(false|f|no|n|off|0)$/i.test(value)) return false;
    throw new Error('must be true or false');
  },
});

/** One of several words. */
export const oneOf = (words: readonly string[], fallback: string, help: string): Setting<string> => ({
  kind: 'choice',
  fallback,
  help,
  read: (value) => {
    if (!words.includes(value)) throw new Error(`must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
    return value;
  },
});

/** Comma-separated texts, each checked by an optional rule. */
export const list = (
  fallback: readonly string[],
  help: string,
  check?: (item: string) => void,
): Setting<readonly string[]> => ({
  kind: 'list',
  fallback,
  help,
  read: (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    for (const item of items) check?.(item);
    return items;
  },
});

/** Comma-separated addresses and networks. */
export const networks = (help: string): Setting<readonly string[]> => ({
  ...list([], help, (item) => {
    if (!isNetwork(item)) {
      throw new Error(`must list addresses or networks such as 10.0.0.0/8, but has "${item}"`);
    }
  }),
  kind: 'networks',
});

/** Comma-separated port numbers. */
export const ports = (help: string): Setting<readonly number[]> => ({
  kind: 'ports',
  fallback: [],
  help,
  read: (value) =>
    list([], help)
      .read(value)
      .map((item) => {
        const port = Number(item);
        if (!/^\d+$/.test(item) || port < 1 || port > 65535)
          throw new Error(`must list ports from 1 to 65535, but has "${item}"`);
        return port;
      }),
});

/** Units of durations in microseconds. */
const durationUnits: Record<string, number> = { s: second, m: minute, h: hour, d: day };

/** A duration up to `max`, in microseconds. Null (if it is the default) means unlimited. */
export const duration = <T extends number | null>(
  fallback: T,
  help: string,
  { min = 0, max = Number.POSITIVE_INFINITY } = {},
): Setting<number | T> => ({
  kind: 'duration',
  fallback,
  help,
  read: (value) => {
    const match = /^(\d+)\s*([smhd])$/.exec(value);
    const unit = durationUnits[match?.[2] ?? ''];
    if (!match || unit === undefined) throw new Error('must be a duration such as 45s, 30m, 12h or 7d');
    const length = Number(match[1]) * unit;
    if (length < min && max === Number.POSITIVE_INFINITY) throw new Error(`must be at least ${durationText(min)}`);
    if (length < min || length > max) throw new Error(`must be from ${min / second}s to ${max / second}s`);
    return length;
  },
});

/** Checks a host with an optional port. Throws. */
export const hostName = (item: string): void => {
  // Each scheme omits its default port.
  const isHost = ['http', 'https'].some((scheme) => urlOf(`${scheme}://${item}`)?.host === item);
  if (!/^[\w.:[\]-]+$/.test(item) || !isHost) {
    throw new Error(`must list hosts such as app.example.com or localhost:3000, but has "${item}"`);
  }
};

/** Checks a web origin or a pattern: `*` means any origin, port, or first label. Throws. */
export const origin = (item: string): void => {
  // Replace `*`, whose meaning is irrelevant here.
  const example = item.replace(/:\*$/, ':4711').replace(/:\/\/\*\./, '://any.');
  if (item !== '*' && (example.includes('*') || urlOf(example)?.origin !== example)) {
    throw new Error(
      `must list origins such as https://app.example.com, https://*.example.com or http://localhost:*, but has "${item}"`,
    );
  }
};

/** Throws a readable error if a list item is not the address of a server. */
export const serverAddress = (item: string): void => {
  const url = urlOf(item);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new Error(`must list http or https URLs without credentials, but has "${item}"`);
};

/** The URL of a web page, stored without query and trailing slash. */
export const webAddress = (fallback: null, help: string): Setting<string | null> => ({
  kind: 'URL',
  fallback,
  help,
  read: (value) => {
    if (value === '') return null;
    if (!/^https?:$/.test(urlOf(value)?.protocol ?? '')) {
      throw new Error('must be an http or https URL');
    }
    const { origin, pathname } = new URL(value);
    return baseOf(origin + pathname);
  },
});

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The URL of another service, stored unchanged. */
export const remoteAddress = (help: string, schemes: readonly string[]): Setting<string | null> => ({
  kind: 'URL',
  fallback: null,
  help,
  read: (value) => {
    if (value === '') return null;
    const parsed = urlOf(value);
    if (!parsed?.hostname || !schemes.includes(parsed.protocol))
      throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`);
    if (!isPercentEncoded(parsed.username + parsed.password))
      throw new Error('must write a percent sign in its user or password as %25');
    return value;
  },
});

/** Checks an encryption key with its id. Throws. */
export const encryptionKey = (item: string): void => {
  const [, key] = /^[\w.-]{1,40}:([A-Za-z0-9+/]{43}=)$/.exec(item) ?? [];
  if (key === undefined) throw new Error('must list keys such as 2024:<base64 of 32 bytes>');
};

/** The target of a redirect: a URL with required and optional placeholders. */
export const redirectAddress = (
  help: string,
  places: readonly string[] = [],
  optional: readonly string[] = [],
): Setting<string | null> => ({
  kind: 'URL',
  fallback: null,
  help,
  read: (text) => {
    if (text === '') return null;
    const problem = problemOfAddress(text, places, optional);
    if (problem) throw new Error(problem);
    return text;
  },
});

/** Returns the rule that such a URL breaks, as the end of a sentence; undefined if it is valid. */
export function problemOfAddress(
  text: string,
  places: readonly string[],
  optional: readonly string[] = [],
): string | undefined {
  const missing = places.find((place) => !text.includes(`{${place}}`));
  if (missing) return `must hold {${missing}}`;
  // With a placeholder in the host, its value could choose the receiver of the token.
  const all = [...places, ...optional];
  const filled = urlOf(all.reduce((address, place) => address.replaceAll(`{${place}}`, 'x'), text));
  const emptied = urlOf(all.reduce((address, place) => address.replaceAll(`{${place}}`, ''), text));
  if (!filled || !/^https?:$/.test(filled.protocol) || filled.origin !== emptied?.origin)
    return 'must be an http or https URL';
  // The URL becomes a response header.
  return /[^\x21-\x7e]/.test(text)
    ? 'must be an http or https URL without blanks, other characters encoded'
    : undefined;
}

/** Formats the value of a setting as on the command line, with masked credentials. */
export function printValue(setting: Setting<unknown>, value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  // The rest of a URL is not secret and helps to identify it.
  if (setting.isSecret && setting.kind !== 'URL') return '********';
  return withoutCredentials(printed(setting, value));
}

function printed({ kind }: Setting<unknown>, value: unknown): string {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'object' ? `${item.url}|${item.cert_file}` : item)).join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  return kind === 'duration' && typeof value === 'number' ? durationText(value) : String(value);
}

/** Formats a duration in the largest unit that divides it. */
function durationText(value: number): string {
  const unit = Object.entries(durationUnits)
    .reverse()
    .find(([, size]) => value % size === 0);
  return unit ? `${value / unit[1]}${unit[0]}` : `${value / second}s`;
}
