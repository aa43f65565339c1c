/** Values for a fuzzer: valid ones from a schema, its bounds, and invalid ones. */
import type { Dice } from './dice.ts';
import type { ApiDocument, Schema } from './document.ts';

/** A piece of JSON that JSON.stringify cannot write. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Serialises a value as JSON. Raw pieces stay unchanged; objects keep all own members, in order. */
export function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
      .join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}

/** Paths of existing objects, by the path of their list. */
export type Objects = ReadonlyMap<string, readonly string[]>;

const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  'true',
  'undefined',
  'NaN',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '"; DROP TABLE user; --',
  '%',
  '_%_',
  '%00',
  '\\',
  '*',
  'NEAR(a b)',
  '"unclosed',
  'a AND OR NOT',
  '-"',
  '{}',
  '[]',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  'Ünïcödé',
  '日本語テキスト',
  '👩‍👩‍👧‍👦',
  'İıſK',
  'ß',
  '\u202eevil',
  '\ufeff',
  '\ufffd',
  'a\0b',
  'a\r\nb: c',
  'a\u0001b',
  'e\u0301'.repeat(40),
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '0000-00-00',
  '2024-02-30T25:61:61+99:99',
  '99999999999999999999',
  '1e309',
  '0x10',
  '١٢٣',
  'http://',
  'http://[::1',
  'https://user:pass@example.invalid:99999/',
  'javascript:alert(1)',
  '//example.invalid/api/users/',
  'ssh-rsa AAAA',
  '10.0.0.0/33',
  '::/129',
  '+372 555 5555',
  'a@b',
  `${'a'.repeat(64)}@${'b'.repeat(250)}.example`,
];

const rawNumbers = ['1e400', '-1e400', '-0', '1.5', '9007199254740993', '18446744073709551616', '1e-400', '0.1e1'];
const wholeNumbers = [0, -1, 1, 2, 255, 65_535, 65_536, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53, -(2 ** 63)];
/** Words for generated texts. */
export const usualWords: readonly string[] = ['alpha', 'beta', 'Gamma', 'delta-4', 'web', 'Pilv', 'ok', 'Õ'];

/** Generates values for one request. */
export class Values {
  /** The probability of an invalid value: half of the requests are mostly valid. */
  readonly #oddity: number;

  constructor(
    private readonly dice: Dice,
    private readonly document: ApiDocument,
    private readonly objects: Objects,
    private readonly words: readonly string[],
  ) {
    this.#oddity = dice.happens(0.5) ? 0 : 0.15;
  }

  /** Decides whether the next value is invalid. */
  isOdd = (): boolean => this.dice.happens(this.#oddity);

  /** Returns a valid value for a schema, with half of the optional members. */
  valid(input: Schema, depth = 0): unknown {
    const { dice } = this;
    const schema = this.document.resolved(input);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return dice.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && choices.length > 0) return this.valid(dice.pick(choices), depth);
    if (schema.allOf?.[0]) return this.valid(dice.pick(schema.allOf), depth);
    const types = [schema.type ?? 'string'].flat();
    switch (dice.pick(types)) {
      case 'null':
        return null;
      case 'boolean':
        return dice.happens(0.5);
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'array':
        return Array.from({ length: dice.whole(0, 3) }, () => this.valid(schema.items ?? {}, depth + 1));
      case 'object':
        return this.#object(schema, depth);
      default:
        return this.#text(schema);
    }
  }

  /** Returns any value. */
  odd(depth = 0): unknown {
    const { dice } = this;
    switch (dice.whole(0, 11)) {
      case 0:
        return null;
      case 1:
        return dice.happens(0.5);
      case 2:
        return dice.pick(wholeNumbers);
      case 3:
        return new RawJson(dice.pick(rawNumbers));
      case 4:
        return new RawJson('"\\ud800 lone \\udc00\\ud800"');
      case 5:
        return dice.pick(['x', 'é', '\n', '𝒳', '0', '%', '/', '&amp;']).repeat(dice.pick([200, 5000, 70_000]));
      case 6:
        return Array.from({ length: dice.pick([0, 1, 101, 1001, 5000]) }, () => dice.pick(this.words));
      case 7: {
        const levels = dice.pick([3, 60, 2000]);
        return new RawJson('['.repeat(levels) + ']'.repeat(levels));
      }
      case 8:
        return new RawJson(dice.pick(['{"__proto__":{"a":1}}', '{"toString":1,"valueOf":1}', '{"a":1,"a":2}', '{}']));
      case 9:
        return depth < 3 ? { url: this.odd(depth + 1), [dice.pick(this.words)]: this.odd(depth + 1) } : {};
      case 10:
        return this.link();
      default:
        return dice.pick(oddTexts);
    }
  }

  /** Returns the path of an existing object, of the same kind as the example if the example names one. */
  link(example?: string): string {
    const { dice, objects } = this;
    const kind = example === undefined ? undefined : /\/api\/[\w-]+\//.exec(example)?.[0];
    const known = kind === undefined ? undefined : objects.get(kind);
    if (known && known.length > 0 && dice.happens(0.85)) return dice.pick(known);
    const collection = kind !== undefined && dice.happens(0.5) ? kind : dice.pick([...objects.keys()]);
    const others = objects.get(collection) ?? [];
    if (others.length > 0 && dice.happens(0.6)) return dice.pick(others);
    return `${collection}${this.uuid()}/`;
  }

  /** Returns the uuid of an existing object, or a random one. */
  uuid(): string {
    const { dice, objects } = this;
    const known = objects.get(dice.pick([...objects.keys()])) ?? [];
    if (known.length > 0 && dice.happens(0.6)) return /([^/]+)\/$/.exec(dice.pick(known))?.[1] ?? '';
    return dice.pick([dice.hex(32), dice.hex(32).toUpperCase(), dice.hex(31), '0'.repeat(32), dice.pick(oddTexts)]);
  }

  oddText = (): string => this.dice.pick(oddTexts);

  #number({ maximum = 2 ** 31 - 1, minimum = 0 }: Schema): unknown {
    const { dice } = this;
    if (this.isOdd()) return dice.pick([minimum - 1, maximum + 1, ...wholeNumbers]);
    return dice.happens(0.5)
      ? dice.pick([minimum, maximum])
      : dice.whole(minimum, Math.min(maximum, minimum + 100_000));
  }

  #object({ properties = {}, required = [] }: Schema, depth: number): Record<string, unknown> {
    const { dice } = this;
    const created: [string, unknown][] = [];
    for (const [name, schema] of Object.entries(properties)) {
      if (!required.includes(name) && dice.happens(0.5)) continue;
      if (required.includes(name) && this.isOdd() && this.isOdd()) continue;
      created.push([name, this.isOdd() ? this.odd(depth) : this.valid(schema, depth + 1)]);
    }
    if (this.isOdd()) created.push([dice.pick(['nmae', '__proto__', 'url', 'uuid', 'state']), this.odd()]);
    return Object.fromEntries(created);
  }

  #text({ examples = [], format, maxLength, minLength = 0, pattern }: Schema): unknown {
    const { dice } = this;
    const example = examples[0];
    if (typeof example === 'string' && example.includes('/api/')) return this.link(example);
    if (pattern?.includes('A-Fa-f')) return this.uuid();
    if (format === 'date-time')
      return new Date(Date.UTC(2024, dice.whole(0, 40), dice.whole(1, 28), dice.whole(0, 23))).toISOString();
    if (format === 'email') return `${dice.hex(6)}@example.invalid`;
    if (example !== undefined && dice.happens(0.6)) return example;
    if (maxLength !== undefined && dice.happens(0.15))
      return 'm'.repeat(Math.min(maxLength + (this.isOdd() ? 1 : 0), 100_000));
    return `${dice.pick(this.words)} ${dice.hex(4)}`.padEnd(minLength, 'p');
  }
}
