import type { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { Actor, Caller } from '../../kernel/access/caller.ts';
import type { NewRecord } from './append.ts';

type Author = Pick<NewRecord, 'actor' | 'actorName' | 'as' | 'via'>;

/** Returns the members of a record about the caller: the only place that knows the kinds of `actor` and `via` of requests (audit.md 1). */
export function authorOf(caller: Caller | null, login?: AuditDraft['login']): Author {
  if (login) return author('user', login.user, login.method, login.session);
  if (!caller) return { actor: { kind: 'anonymous', uuid: null }, actorName: null, via: null, as: null };
  const { apiKey, credential, impersonator, isServiceAccount } = caller;
  if (impersonator) return author('user', impersonator, 'impersonation', credential, caller.uuid);
  return author(isServiceAccount ? 'service_account' : 'user', caller, apiKey ? 'api_key' : 'session', credential);
}

const author = (
  kind: string,
  { username, uuid }: Actor,
  via: string,
  credential: string,
  as: string | null = null,
): Author => ({ actor: { kind, uuid }, actorName: username, via: { kind: via, uuid: credential }, as });
