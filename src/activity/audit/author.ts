import type { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { Actor, Caller } from '../../kernel/access/caller.ts';
import type { NewRecord } from './append.ts';

/** Returns the members of a record about the caller: the only place that knows the kinds of `actor` and `via` of requests (audit.md 1). */
export function authorOf(
  caller: Caller | null,
  login?: AuditDraft['login'],
): Pick<NewRecord, 'actor' | 'actorName' | 'as' | 'via'> {
  if (login) return { ...actorOf(login.user), via: { kind: login.method, uuid: login.session } };
  if (!caller) return { actor: { kind: 'anonymous', uuid: null }, actorName: null, via: null };
  const { apiKey, credential, impersonator, isServiceAccount } = caller;
  if (impersonator)
    return { ...actorOf(impersonator), via: { kind: 'impersonation', uuid: credential }, as: caller.uuid };
  const kind = isServiceAccount ? 'service_account' : 'user';
  return { ...actorOf(caller, kind), via: { kind: apiKey ? 'api_key' : 'session', uuid: credential } };
}

const actorOf = ({ username, uuid }: Actor, kind = 'user'): Pick<NewRecord, 'actor' | 'actorName'> => ({
  actor: { kind, uuid },
  actorName: username,
});
