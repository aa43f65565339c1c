import { crc32 } from 'node:zlib';

/** JSON Schema of a value in a response. A titled schema appears once in the documentation, under that title. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Base URL of links in examples. */
const exampleBase = 'https://tenantry.example.com';

/** The uuid of a collection's objects in all examples. */
export function exampleUuid(collection: string): string {
  const known = uuids.get(collection) ?? [0, 1, 2, 3].map((part) => checksum(collection, part)).join('');
  uuids.set(collection, known);
  return known;
}

const uuids = new Map<string, string>();

/** Returns eight hexadecimal digits. Cryptographic digests for the sixty example uuids would cost a millisecond at start. */
const checksum = (text: string, part: number): string => crc32(`${part} ${text}`).toString(16).padStart(8, '0');

/** Returns an example link to an object of a collection. */
export const exampleLink = (collection: string): string =>
  `${exampleBase}/api/${collection}/${exampleUuid(collection)}/`;

const exampleTexts: Readonly<Record<string, string>> = {
  'date-time': '2026-01-05T09:00:00Z',
  email: 'alice@example.com',
  uri: `${exampleBase}/`,
};

/**
 * Returns a value that satisfies a JSON Schema: its first example, or one that fits its type. `name` is the member's name. Does
 * not follow references.
 */
export function exampleOf(shape: JsonSchema, name = ''): unknown {
  // A JSON Schema may have any member, but the specification fixes the types of those read here.
  const {
    additionalProperties,
    anyOf,
    enum: choices,
    examples,
    items,
    maxLength,
    minimum,
    oneOf,
    properties,
    type,
  } = shape as Schema;
  if (examples?.[0] !== undefined) return examples[0];
  if ('const' in shape) return shape.const;
  if (choices) return choices.find((choice) => choice !== '') ?? choices[0];
  const [alternative] = oneOf ?? anyOf ?? [];
  if (alternative) return exampleOf(alternative, name);
  const kind = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  switch (kind) {
    case 'object': {
      if (properties)
        return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, exampleOf(value, key)]));
      return additionalProperties && typeof additionalProperties === 'object'
        ? { name: exampleOf(additionalProperties) }
        : {};
    }
    case 'array':
      return items ? [exampleOf(items, name)] : [];
    case 'integer':
    case 'number':
      return Math.max(1, minimum ?? 1);
    case 'boolean':
      return true;
    case 'string':
      return textExample(shape, name).slice(0, maxLength ?? 200);
    default:
      return null;
  }
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maxLength?: number;
}

function textExample({ format, pattern }: JsonSchema, name: string): string {
  if (typeof pattern === 'string' && pattern.includes('{32}')) return exampleUuid(name);
  return exampleTexts[String(format)] ?? (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');
}
