import * as v from 'valibot';
import type { Request } from '../access/request.ts';
import { kindName } from '../http/body.ts';
import { urlOf } from '../url.ts';
import {
  exampleShape,
  type Field,
  FieldError,
  type IsRequired,
  inputOf,
  readOnly,
  type WritableField,
  type Writing,
} from './field.ts';
import { linkShape, linkValue, optionalLink } from './representation.ts';

/** The parts of a target collection for link fields. */
export interface LinkTarget {
  readonly path: string;
  /** Returns the id of the object with this uuid, if the caller can see it. */
  readonly visibleId: (request: Request, uuid: string) => number | undefined;
}

interface LinkOptions extends Writing<never> {
  readonly to: () => LinkTarget;
  /** SQL of the linked object's uuid. */
  readonly key: string;
  /** Nullable links. */
  readonly nullable?: boolean;
}

/** The id of the linked object; null only if the link is nullable. */
type LinkValue<O> = O extends { readonly nullable: true } ? number | null : number;

/** A link to an object of another collection. Its value is the object's id, in the column `<name>_id`. */
export function link<const O extends LinkOptions>(options: O): WritableField<LinkValue<O>, IsRequired<O>>;
export function link(options: LinkOptions): WritableField<number | null> {
  const { key, nullable = false, to } = options;
  return {
    select: () => ({ path: to().path }),
    type: 'field',
    label: options.label,
    help: options.help,
    constraints: {},
    json: () => (nullable ? optionalLink : linkValue)(to().path, key),
    shownIf: options.shownIf,
    shape: { type: nullable ? ['string', 'null'] : 'string', format: 'uri', ...exampleShape(options) },
    input: inputOf<number | null, v.GenericSchema<unknown, string>>(options, {
      schema: linkText,
      nullable,
      coerce: emptyAsNull,
      columnOf: (name) => `${name}_id`,
      resolve: (text, request) => resolveLink(text, to(), request),
    }),
  };
}

/** The text of a link. */
export const linkText: v.GenericSchema<unknown, string> = v.string(
  ({ input }) => `Incorrect type. Expected URL string, received ${kindName(input)}.`,
);

/** An empty text means null (core.md 1.5). */
export const emptyAsNull = (value: unknown): unknown => (value === '' ? null : value);

/** Returns the id of a link's object, if visible (core.md 1.4 "link"). Throws FieldError. */
export function resolveLink(link: string, target: LinkTarget, request: Request): number {
  const key = linkKey(link, target.path, request);
  const id = target.visibleId(request, key);
  if (id === undefined) throw new FieldError(['Invalid hyperlink - Object does not exist.']);
  return id;
}

/** Returns the uuid in a link to an object of the collection with this path. Throws FieldError for any other text. */
export function linkKey(value: string, path: string, request: Request): string {
  const location = linkPath(value.trim(), request);
  const match = location === undefined ? null : /^\/api\/([a-z0-9-]+)\/([0-9a-fA-F]{32})\/$/.exec(location);
  const [, collection, key] = match ?? [];
  if (collection === path && key !== undefined) return key.toLowerCase();
  const known = location !== undefined && request.app.isPath(location);
  throw new FieldError([known ? 'Invalid hyperlink - Incorrect URL match.' : 'Invalid hyperlink - No URL match.']);
}

/** Returns the path, with a trailing slash, of a URL on any host or of a bare path; undefined if the text is neither. */
export function linkPath(value: string, request: Request): string | undefined {
  if (!/^(https?:\/\/|\/)/i.test(value) || !urlOf(value, 'http://localhost')) return undefined;
  const prefix = new URL(request.base).pathname.replace(/\/$/, '');
  let path = new URL(value, 'http://localhost').pathname;
  if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
  return path.endsWith('/') ? path : `${path}/`;
}

/** The link of the object itself. */
export const selfLink = (path: string, key: string): Field<never> =>
  readOnly('field', linkShape(path), linkValue(path, key), { label: 'URL' });
