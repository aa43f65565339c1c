import type { Request } from '../../kernel/access/request.ts';
import type { Operation } from '../../kernel/collection/endpoint.ts';
import type { JsonSchema } from '../../kernel/collection/json-schema.ts';
import { HttpError, type Messages } from '../../kernel/http/error.ts';

/* Names in a request that its operation does not have for anybody (core.md 1.5 "Ignored input"). */

/** What an operation knows: its parameters, with the starts of those that have a form of names, and the members of its body. */
interface Known {
  readonly parameters: ReadonlySet<string>;
  readonly starts: readonly string[];
  /** Undefined where no body is looked at. */
  readonly members: ReadonlySet<string> | undefined;
}

interface IgnoredNames {
  readonly query: readonly string[];
  readonly body: readonly string[];
}

const known = new WeakMap<Operation, Known>();

function knownOf(operation: Operation): Known {
  const present = known.get(operation);
  if (present) return present;
  const { filters = {}, input, orderings = [], output, paginated, selectable } = operation;
  const made: Known = {
    parameters: new Set([
      ...Object.keys(filters),
      ...(orderings.length > 0 ? ['o'] : []),
      ...((selectable ?? paginated) ? ['field', 'fields'] : []),
      ...(paginated ? ['page', 'page_size'] : []),
    ]),
    starts: Object.values(filters).flatMap((filter) => filter.starts ?? []),
    members: input && new Set([...Object.keys(input.fields), ...membersShown(output.shape)]),
  };
  known.set(operation, made);
  return made;
}

/** The members of the object that an answer holds, which its reader may send back. */
function membersShown({ properties }: JsonSchema = {}): readonly string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

/** The names that an operation ignores; undefined where there are none. */
export function ignoredNames(operation: Operation, request: Request): IgnoredNames | undefined {
  const { incoming } = request;
  if (operation.takesAnything || (incoming.query.text === '' && !operation.input)) return undefined;
  const { members, parameters, starts } = knownOf(operation);
  const query = [...incoming.query.names()].filter(
    (name) => !parameters.has(name) && !starts.some((start) => name.startsWith(start)),
  );
  const body = members ? membersOf(request).filter((name) => !members.has(name)) : [];
  return query.length + body.length === 0 ? undefined : { query, body };
}

/** The names in a body; none where it cannot be read, which is told otherwise. */
function membersOf({ incoming }: Request): readonly string[] {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return [];
  try {
    return Object.keys(incoming.body().values);
  } catch (error) {
    if (error instanceof HttpError) return [];
    throw error;
  }
}

const mostTold = 20;
const longestTold = 40;

const plainName = /^[A-Za-z0-9_.-]{1,40}$/;

/** Bytes other than these are percent-encoded. */
const encodedName = (name: string): string =>
  plainName.test(name)
    ? name
    : [...Buffer.from(name.slice(0, longestTold))]
        .map((byte) => {
          const sign = String.fromCharCode(byte);
          return /[A-Za-z0-9_.-]/.test(sign) ? sign : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
        })
        .join('')
        .slice(0, longestTold);

/** The header X-Ignored: `query nmae, foo; body bar`. */
export function ignoredHeader({ body, query }: IgnoredNames): string {
  const [only = '', ...others] = query;
  if (others.length + body.length === 0 && plainName.test(only)) return `query ${only}`;
  const parts = [
    ['query', query.slice(0, mostTold)],
    ['body', body.slice(0, Math.max(0, mostTold - query.length))],
  ] as const;
  return parts
    .filter(([, names]) => names.length > 0)
    .map(([part, names]) => `${part} ${names.map(encodedName).join(', ')}`)
    .join('; ');
}

/** What is told of these names where the setting strict_input refuses them. */
export const unknownNames = ({ body, query }: IgnoredNames): Messages =>
  Object.fromEntries(
    [...new Set([...query, ...body])].map((name) => [
      name,
      [...(query.includes(name) ? ['Unknown parameter.'] : []), ...(body.includes(name) ? ['Unknown field.'] : [])],
    ]),
  );
