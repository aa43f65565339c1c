import * as v from 'valibot';
import type { Request } from '../access/request.ts';
import { kindName } from '../http/body.ts';
import { urlOf } from '../url.ts';
import { exampleShape, type Field, FieldError, inputOf, messages, shown, type Writing } from './field.ts';
import { linkShape, linkValue, optionalLink } from './representation.ts';

/** What a link field needs to know of the collection it points to. */
export interface LinkTarget {
  readonly path: string;
  /** Id of the object with this uuid, if the caller sees it. */
  readonly visibleId: (request: Request, uuid: string) => number | undefined;
}

/** A link to an object of another collection; its value is the object's id. `key` is the SQL of the shown object's uuid. */
export function link(options: Writing<number> & { to: () => LinkTarget; key: string }): Field<number>;
export function link(
  options: Writing<number | null> & { to: () => LinkTarget; key: string; nullable: true },
): Field<number | null>;
export function link(options: Writing<never> & { to: () => LinkTarget; key: string; nullable?: true }): Field<never> {
  const nullable = options.nullable ?? false;
  return {
    select: () => ({ path: options.to().path }),
    type: 'field',
    label: options.label,
    help: options.help,
    facts: {},
    json: () => (nullable ? optionalLink : linkValue)(options.to().path, options.key),
    shown: options.shown,
    shape: { type: nullable ? ['string', 'null'] : 'string', format: 'uri', ...exampleShape(options) },
    input: inputOf<never>(options, {
      schema: v.string(),
      nullable,
      parse: (value, request) => {
        if (value === '' || value === null) {
          if (nullable) return null as never;
          throw new FieldError([messages.null]);
        }
        return resolveLink(value, options.to(), request) as never;
      },
    }),
  };
}

/** The id of the visible object a link points to (core.md 1.4 "link"). Throws FieldError. */
export function resolveLink(value: unknown, target: LinkTarget, request: Request): number {
  if (typeof value !== 'string')
    throw new FieldError([`Incorrect type. Expected URL string, received ${kindName(value)}.`]);
  const key = linkKey(value, target.path, request);
  const id = target.visibleId(request, key);
  if (id === undefined) throw new FieldError(['Invalid hyperlink - Object does not exist.']);
  return id;
}

/** The uuid in a link to an object of the collection with this path. Throws FieldError when it is no such link. */
export function linkKey(value: string, path: string, request: Request): string {
  const location = linkPath(value.trim(), request);
  const match = location === undefined ? null : /^\/api\/([a-z0-9-]+)\/([0-9a-fA-F]{32})\/$/.exec(location);
  if (match?.[1] === path) return (match[2] as string).toLowerCase();
  const known = location !== undefined && request.deployment.isPath(location);
  throw new FieldError([known ? 'Invalid hyperlink - Incorrect URL match.' : 'Invalid hyperlink - No URL match.']);
}

/** The path of a full URL of any host, or of a bare path; with a trailing slash. Undefined when the text is neither. */
export function linkPath(value: string, request: Request): string | undefined {
  if (!/^(https?:\/\/|\/)/i.test(value) || !urlOf(value, 'http://localhost')) return undefined;
  const prefix = new URL(request.base).pathname.replace(/\/$/, '');
  let path = new URL(value, 'http://localhost').pathname;
  if (prefix !== '' && path.startsWith(`${prefix}/`)) path = path.slice(prefix.length);
  return path.endsWith('/') ? path : `${path}/`;
}

/** The link of the object itself. */
export const selfLink = (path: string, key: string): Field<never> =>
  shown('field', linkShape(path), linkValue(path, key), { label: 'URL' });
