import type { Request } from '../../kernel/access/request.ts';
import { FieldError } from '../../kernel/collection/field.ts';
import { linkPath } from '../../kernel/collection/links.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { keyPatterns } from '../../kernel/http/router.ts';
import type { Scope, ScopeKind } from './scope.ts';
import { isFindable } from './scopes.ts';

/** The object of a scope link. */
export interface ResolvedScope {
  readonly kind: ScopeKind;
  readonly scope: Scope;
  readonly id: number;
  readonly uuid: string;
}

const rejection = (message: string): Error => new FieldError([message]);

/** Thrown for a well-formed link to an object that does not exist or that the caller cannot see. */
class UnknownObject extends FieldError {}

/**
 * Returns the object of a scope link, if the caller can read it (events.md 1.3). With `acceptedOnly`, rejects kinds that
 * alerts and events do not accept. Throws FieldError.
 */
export function resolveScope(request: Request, link: string, acceptedOnly: boolean): ResolvedScope {
  const path = linkPath(link, request);
  if (path === undefined) throw rejection(`URL is invalid: ${link}.`);
  const [, segment, key = ''] = /^\/api\/([^/]+)\/([^/]+)\/$/.exec(path) ?? [];
  const match = request.app.scopes.ofPath(segment);
  if (!match)
    throw rejection(request.app.isObject(request, path) ? unrelated(link) : `Can't restore object from url: ${link}`);
  if (!keyPatterns.uuid.test(key)) throw rejection(`URL is invalid: ${link}.`);
  const uuid = key.toLowerCase();
  const { kind, only, scope } = match;
  const id = request.db.value<number>(
    sql`SELECT id FROM ${raw(scope.table)} WHERE uuid = ${uuid} AND ${raw(only)} AND ${isFindable(request, scope, 'id')}`,
  );
  if (id === undefined) throw new UnknownObject([`Can't restore object from url: ${link}`]);
  if (acceptedOnly && !scope.accepted) throw rejection(unrelated(link));
  return { kind, scope, id, uuid };
}

/** Returns the message about a link to an object of the wrong kind. */
export const unrelated = (link: string): string => `${link} object does not support such relationship.`;

const inParameter = (error: unknown): unknown =>
  error instanceof FieldError ? invalid({ scope: error.messages }) : error;

/** Resolves the query parameter `scope`; undefined if it is missing. Throws 400. */
export function scopeParameter(request: Request): ResolvedScope | undefined {
  const link = request.query.one('scope');
  if (link === undefined) return undefined;
  try {
    return resolveScope(request, link, false);
  } catch (error) {
    throw inParameter(error);
  }
}

/** Like `scopeParameter`, but returns `unknown` if the caller cannot see the object. Throws 400 for an invalid link. */
export function findScope(request: Request): ResolvedScope | 'unknown' | undefined {
  const link = request.query.one('scope');
  if (link === undefined) return undefined;
  try {
    return resolveScope(request, link, false);
  } catch (error) {
    if (error instanceof UnknownObject) return 'unknown';
    throw inParameter(error);
  }
}
