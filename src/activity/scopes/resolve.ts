import type { Request } from '../../kernel/access/request.ts';
import { FieldError } from '../../kernel/collection/field.ts';
import { linkPath } from '../../kernel/collection/links.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { keyPatterns } from '../../kernel/http/router.ts';
import type { Scope, ScopeKind } from './scope.ts';
import { foundBy } from './scopes.ts';

/** An object that a scope link names. */
export interface ResolvedScope {
  readonly kind: ScopeKind;
  readonly scope: Scope;
  readonly id: number;
  readonly uuid: string;
}

const refused = (message: string): Error => new FieldError([message]);

/** A link with the form of one to an object that is not there, or not for the caller to see. */
class UnknownObject extends FieldError {}

/**
 * The object a scope link names, among those the caller reads (events.md 1.3). Throws FieldError. With
 * `acceptedOnly` kinds that alerts and events do not take are refused too.
 */
export function resolveScope(request: Request, link: string, acceptedOnly: boolean): ResolvedScope {
  const path = linkPath(link, request);
  if (path === undefined) throw refused(`URL is invalid: ${link}.`);
  const [, segment, key = ''] = /^\/api\/([^/]+)\/([^/]+)\/$/.exec(path) ?? [];
  const found = request.app.scopes.ofPath(segment);
  if (!found)
    throw refused(request.app.isObject(request, path) ? unrelated(link) : `Can't restore object from url: ${link}`);
  if (!keyPatterns.uuid.test(key)) throw refused(`URL is invalid: ${link}.`);
  const uuid = key.toLowerCase();
  const { kind, only, scope } = found;
  const id = request.db.value<number>(
    sql`SELECT id FROM ${raw(scope.table)} WHERE uuid = ${uuid} AND ${raw(only)} AND ${foundBy(request, scope, 'id')}`,
  );
  if (id === undefined) throw new UnknownObject([`Can't restore object from url: ${link}`]);
  if (acceptedOnly && !scope.accepted) throw refused(unrelated(link));
  return { kind, scope, id, uuid };
}

const unrelated = (link: string): string => `${link} object does not support such relationship.`;

const inParameter = (error: unknown): unknown =>
  error instanceof FieldError ? invalid({ scope: error.messages }) : error;

/** The object that the query parameter `scope` names; undefined when it is not given. Throws 400. */
export function scopeParameter(request: Request): ResolvedScope | undefined {
  const link = request.query.one('scope');
  if (link === undefined) return undefined;
  try {
    return resolveScope(request, link, false);
  } catch (error) {
    throw inParameter(error);
  }
}

/** The same, where an object that the caller does not see is `unknown`. Throws 400 for what is the path of no object. */
export function soughtScope(request: Request): ResolvedScope | 'unknown' | undefined {
  const link = request.query.one('scope');
  if (link === undefined) return undefined;
  try {
    return resolveScope(request, link, false);
  } catch (error) {
    if (error instanceof UnknownObject) return 'unknown';
    throw inParameter(error);
  }
}
