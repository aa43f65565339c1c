import type { Request } from '../../kernel/access/request.ts';
import type { Operation } from '../../kernel/collection/endpoint.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { HttpError, type Messages } from '../../kernel/http/error.ts';

/* Names in a request that its operation does not know (core.md 1.5 "Ignored input"). */

/** The names that an operation accepts. */
interface KnownNames {
  readonly parameters: ReadonlySet<string>;
  /** Prefixes of parameters whose names vary. */
  readonly prefixes: readonly string[];
  /** Members of the body; undefined for an operation without body. */
  readonly members: ReadonlySet<string> | undefined;
}

interface IgnoredNames {
  readonly query: readonly string[];
  readonly body: readonly string[];
}

const knownNames = new WeakMap<Operation, KnownNames>();

function knownNamesOf(operation: Operation): KnownNames {
  const cached = knownNames.get(operation);
  if (cached) return cached;
  const { filters = {}, input, orderings = [], output, paginated, selectable } = operation;
  const names: KnownNames = {
    parameters: new Set([
      ...Object.keys(filters),
      ...(orderings.length > 0 ? ['o'] : []),
      ...((selectable ?? paginated) ? ['field', 'fields'] : []),
      ...(paginated ? ['page', 'page_size'] : []),
    ]),
    prefixes: Object.values(filters).flatMap((filter) => filter.prefixes ?? []),
    members: input && new Set([...Object.keys(input.fields), ...membersOfShape(output.shape)]),
  };
  knownNames.set(operation, names);
  return names;
}

/** Returns the members of a response object. Clients may send them back. */
function membersOfShape({ properties }: JsonSchema = {}): readonly string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** Returns the names that an operation ignores; undefined if there are none. */
export function ignoredNames(operation: Operation, request: Request): IgnoredNames | undefined {
  const { incoming } = request;
  if (operation.takesAnything || (incoming.query.text === '' && !operation.input)) return undefined;
  const { members, parameters, prefixes } = knownNamesOf(operation);
  const query = [...incoming.query.names()].filter(
    (name) => !parameters.has(name) && !prefixes.some((prefix) => name.startsWith(prefix)),
  );
  const body = members ? membersOf(request).filter((name) => !members.has(name)) : [];
  return query.length + body.length === 0 ? undefined : { query, body };
}

/** Returns the names in a body. Returns none for an unreadable body, which the handler reports. */
function membersOf({ incoming }: Request): readonly string[] {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return [];
  try {
    return Object.keys(incoming.body().values);
  } catch (error) {
    if (error instanceof HttpError) return [];
    throw error;
  }
}

const maxNames = 20;
const maxNameLength = 40;

const plainName = /^[A-Za-z0-9_.-]{1,40}$/;

/** Percent-encodes bytes that are unsafe in a header. */
const encodedName = (name: string): string =>
  plainName.test(name)
    ? name
    : [...Buffer.from(name.slice(0, maxNameLength))]
        .map((byte) => {
          const character = String.fromCharCode(byte);
          return /[A-Za-z0-9_.-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
        })
        .join('')
        .slice(0, maxNameLength);

/** Returns the header X-Ignored: `query nmae, foo; body bar`. */
export function ignoredHeader({ body, query }: IgnoredNames): string {
  const [only = '', ...others] = query;
  if (others.length + body.length === 0 && plainName.test(only)) return `query ${only}`;
  const parts = [
    ['query', query.slice(0, maxNames)],
    ['body', body.slice(0, Math.max(0, maxNames - query.length))],
  ] as const;
  return parts
    .filter(([, names]) => names.length > 0)
    .map(([part, names]) => `${part} ${names.map(encodedName).join(', ')}`)
    .join('; ');
}

/** Returns the error messages for these names under strict_input. */
export const unknownNames = ({ body, query }: IgnoredNames): Messages =>
  Object.fromEntries(
    [...new Set([...query, ...body])].map((name) => [
      name,
      [...(query.includes(name) ? ['Unknown parameter.'] : []), ...(body.includes(name) ? ['Unknown field.'] : [])],
    ]),
  );
