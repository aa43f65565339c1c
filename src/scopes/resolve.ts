import type { Request } from '../access/request.ts';
import { raw, sql } from '../db/sql.ts';
import { FieldError } from '../collection/field.ts';
import { invalid } from '../http/error.ts';
import { type Scope, type ScopeKind, readableBy, scopes } from './scopes.ts';

/** An object that a scope link names. */
export interface ResolvedScope {
  readonly kind: ScopeKind;
  readonly scope: Scope;
  readonly id: number;
  readonly uuid: string;
}

const refused = (message: string): Error => new FieldError([message]);

/**
 * The object a scope link names, among those the caller reads (events.md 1.3). Throws FieldError. With
 * `acceptedOnly` kinds that alerts and events do not take are refused too.
 */
export function resolveScope(request: Request, link: string, acceptedOnly: boolean): ResolvedScope {
  const path = scopePath(link);
  const match = path === undefined ? null : /^\/api\/([^/]+)\/([^/]+)\/$/.exec(path);
  if (path === undefined || (match && !/^[0-9a-f]{32}$/i.test(match[2] as string))) throw refused(`URL is invalid: ${link}.`);
  const [kind, scope, only = 'TRUE'] = scopeOfPath(match?.[1]);
  const uuid = (match?.[2] ?? '').toLowerCase();
  const id = scope && request.db.value<number>(sql`SELECT id FROM ${raw(scope.table)} WHERE uuid = ${uuid} AND ${raw(only)} AND ${readableBy(request.caller, scope, 'id')}`);
  if (!scope || id === undefined) throw refused(`Can't restore object from url: ${link}`);
  if (acceptedOnly && !scope.accepted) throw refused(`${link} object does not support such relationship.`);
  return { kind: kind as ScopeKind, scope, id, uuid };
}

/** The object that the query parameter `scope` names; undefined when it is not given. Throws 400. */
export function scopeParameter(request: Request): ResolvedScope | undefined {
  const link = request.query.one('scope');
  if (link === undefined) return undefined;
  try {
    return resolveScope(request, link, false);
  } catch (error) {
    throw error instanceof FieldError ? invalid({ scope: error.messages }) : error;
  }
}

/** The kind whose objects stand under a path, with the condition that its type asks for. */
function scopeOfPath(segment: string | undefined): readonly [ScopeKind?, Scope?, string?] {
  for (const [kind, scope] of Object.entries(scopes)) {
    if (scope.path !== undefined && scope.path === segment) return [kind as ScopeKind, scope];
    const type = scope.typed?.().find(({ path }) => path === segment);
    if (type) return [kind as ScopeKind, scope, type.only];
  }
  return [];
}

/** The path of an absolute URL or a bare path, with a trailing slash; undefined when it is neither. */
function scopePath(link: string): string | undefined {
  if (!/^(https?:\/\/|\/)/i.test(link) || !URL.canParse(link, 'http://localhost')) return undefined;
  const { pathname } = new URL(link, 'http://localhost');
  return pathname.endsWith('/') ? pathname : `${pathname}/`;
}
