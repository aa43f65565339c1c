/** Identities of users at OpenID Connect providers (services.md 11). */
import * as v from 'valibot';
import type { Caller } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import {
  coerceList,
  inputOf,
  messages,
  notAList,
  objectShape,
  readOnlyList,
  type WritableField,
} from '../../kernel/collection/field.ts';
import type { Filter } from '../../kernel/collection/filter.ts';
import { listValue, notNullText, objectValue } from '../../kernel/collection/representation.ts';
import { sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';

declare module '../../kernel/app.ts' {
  interface App {
    /** Issuers of the configured providers, by provider name. */
    readonly identityIssuers: ReadonlyMap<string, string>;
  }
}

/** An identity in requests and responses. */
type Identity = { readonly provider: string; readonly subject: string };

interface StoredIdentity extends Identity {
  readonly issuer: string;
}

export const maxIdentities = 10;

const identityList = listValue(
  objectValue({ provider: notNullText('i.provider'), subject: notNullText('i.subject') }),
  'user_identity i WHERE i.user_id = u.id',
  'i.id',
);

const text = { type: 'string', minLength: 1, maxLength: 255 } as const;
const name = v.pipe(
  v.string(messages.string),
  v.minLength(1, messages.blank),
  v.maxLength(text.maxLength, messages.tooLong(text.maxLength)),
);

/** A list of `{provider, subject}`. Each item requires both. */
const schema = v.pipe(
  v.array(v.object({ provider: name, subject: name }, 'Each identity needs provider and subject.'), notAList),
  v.maxLength(maxIdentities, `A user can have at most ${maxIdentities} identities.`),
);

/** The field `identities` of users. Staff can change it. */
export const identitiesField = (writing: {
  readonly update: (caller: Caller) => boolean;
  readonly shownIf: string;
}): WritableField<readonly Identity[], false> => ({
  ...readOnlyList(identityList),
  shownIf: writing.shownIf,
  help: 'Accounts at OpenID Connect providers with which the user can log in.',
  input: inputOf(
    { update: writing.update, storedIn: false, help: '' },
    {
      schema,
      shape: { type: 'array', items: objectShape({ provider: text, subject: text }), maxItems: maxIdentities },
      coerce: coerceList,
    },
  ),
});

/** The filter `identity=<provider>:<subject>`. */
export const ofIdentity: Filter = {
  type: 'string',
  help: 'An identity as <provider>:<subject>, for staff.',
  condition: ({ app, query }, parameter) => {
    const text = query.one(parameter);
    if (text === undefined || text === '') return undefined;
    const [, provider = '', subject = ''] = /^([^:]*):(.*)$/s.exec(text) ?? [];
    const issuer = app.identityIssuers.get(provider) ?? null;
    return sql`u.id IN (SELECT user_id FROM user_identity WHERE issuer = ${issuer} AND subject = ${subject})`;
  },
};

/** Returns the id of the user with this identity. */
export const ownerOfIdentity = ({ app: { db } }: Context, issuer: string, subject: string): number | undefined =>
  db.value<number>(sql`SELECT user_id FROM user_identity WHERE issuer = ${issuer} AND subject = ${subject}`);

/** Adds an identity. No user may have it. */
export const addIdentity = ({ app: { db } }: Context, user: number, identity: StoredIdentity): void =>
  void db.insert('user_identity', { ...identity, user_id: user });

/** Returns the stored identities of a user. */
const identitiesOf = ({ app: { db } }: Context, user: number): (StoredIdentity & { readonly id: number })[] =>
  db.all(sql`SELECT id, issuer, provider, subject FROM user_identity WHERE user_id = ${user} ORDER BY id`);

/** Whether the identities in a body differ from the user's. */
export function changesIdentities(
  context: Context,
  user: number,
  identities: readonly Identity[] | undefined,
): boolean {
  const current = identitiesOf(context, user);
  const isIn = (list: readonly Identity[]) => (item: Identity) => list.some((other) => isSame(item, other));
  return identities !== undefined && !(identities.every(isIn(current)) && current.every(isIn(identities)));
}

/**
 * Replaces the identities of a user. An unchanged identity keeps its issuer, so that a different issuer under the same provider
 * name gains no access. Returns whether anything changed. Throws 400.
 */
export function replaceIdentities(request: Request, user: number, identities: readonly Identity[]): boolean {
  const { app, db } = request;
  const current = identitiesOf(request, user);
  const isWanted = (stored: Identity): boolean => identities.some((item) => isSame(item, stored));
  const removed = current.filter((stored) => !isWanted(stored));
  const added = identities.filter(
    (item, i) =>
      !current.some((stored) => isSame(item, stored)) && identities.findIndex((other) => isSame(item, other)) === i,
  );
  for (const { id } of removed) db.run(sql`DELETE FROM user_identity WHERE id = ${id}`);
  for (const { provider, subject } of added) {
    const issuer = app.identityIssuers.get(provider);
    if (issuer === undefined) throw invalid({ identities: [messages.choice(provider)] });
    const owner = ownerOfIdentity(request, issuer, subject);
    if (owner !== undefined && owner !== user)
      throw invalid({ identities: ['This identity belongs to another user.'] });
    if (owner === undefined) addIdentity(request, user, { provider, subject, issuer });
  }
  return removed.length + added.length > 0;
}

const isSame = (a: Identity, b: Identity): boolean => a.provider === b.provider && a.subject === b.subject;
