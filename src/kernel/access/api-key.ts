/** The limits that an API key puts on the rights of its owner (core.md 2.9). */

/** `read` permits GET, HEAD and OPTIONS, `write` every method. */
export const scopeLevels = ['read', 'write'] as const;
export type ScopeLevel = (typeof scopeLevels)[number];

/** Groups that `*:read` and `*:write` do not cover. */
const separateGroups: ReadonlySet<string> = new Set(['operation', 'audit']);

/** The API key of a request. */
export interface ApiKey {
  readonly id: number;
  readonly scopes: ReadonlySet<string>;
  /** Whether the key is bound to customers and projects: then the caller has the roles of its owner there, and no others. */
  readonly isBound: boolean;
  /** Whether it is bound and its owner is staff, who could do more than the key. */
  readonly isOfStaff: boolean;
  /** Whether the request presented the key from before the last rotation. */
  readonly isPrevious: boolean;
}

/** Whether the scopes of a key permit operations of a group. */
export function hasScope({ scopes }: Pick<ApiKey, 'scopes'>, group: string, level: ScopeLevel): boolean {
  const permits = (name: string): boolean =>
    scopes.has(`${name}:write`) || (level === 'read' && scopes.has(`${name}:read`));
  return permits(group) || (!separateGroups.has(group) && permits('*'));
}

/** The message of the 403 for operations that need a person. */
export const closedText = 'API keys cannot be used for this operation.';

/** The message of the 403 for the same operations while staff impersonate a user. */
export const impersonatedText = 'This operation cannot be used while impersonating a user.';

/** The message of the 403 for operations that do not concern an object that a key is bound to. */
export const boundText = 'This API key is bound to other objects.';
