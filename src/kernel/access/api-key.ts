/** The limits of an API key on the rights of its owner (core.md 2.9). */

/** `read` permits GET, HEAD and OPTIONS, `write` every method. */
export const scopeLevels = ['read', 'write'] as const;
export type ScopeLevel = (typeof scopeLevels)[number];

/** Groups that `*:read` and `*:write` do not cover. */
const separateGroups: ReadonlySet<string> = new Set(['operation', 'audit']);

/** The API key of a request. */
export interface ApiKey {
  readonly id: number;
  readonly scopes: ReadonlySet<string>;
  /** Whether the key is bound to customers and projects. If so, the caller has only the owner's roles there. */
  readonly isBound: boolean;
  /** Whether it is bound although its owner is staff, with more rights than the key. */
  readonly isOfStaff: boolean;
  /** Whether the request used the key from before the last rotation. */
  readonly isPrevious: boolean;
}

/** Whether the scopes of a key permit operations of a group. */
export function hasScope({ scopes }: Pick<ApiKey, 'scopes'>, group: string, level: ScopeLevel): boolean {
  const permits = (name: string): boolean =>
    scopes.has(`${name}:write`) || (level === 'read' && scopes.has(`${name}:read`));
  return permits(group) || (!separateGroups.has(group) && permits('*'));
}

/** The 403 message for operations that require a person. */
export const closedText = 'API keys cannot be used for this operation.';

/** The 403 message for these operations while staff impersonate a user. */
export const impersonatedText = 'This operation cannot be used while impersonating a user.';

/** The 403 message for operations on objects to which the key is not bound. */
export const boundText = 'This API key is bound to other objects.';
