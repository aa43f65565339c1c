/** API keys from the command line. The rules of the API apply, except that no session has to be confirmed. */
import { takenName } from '../../accounts/api-keys/api-keys.ts';
import { checkNewEnd, checkScopes, latestEnd, normalNetworks } from '../../accounts/api-keys/fields.ts';
import { insertApiKey } from '../../accounts/api-keys/insert.ts';
import type { RoleScope } from '../../accounts/roles/roles.ts';
import type { UserRow } from '../../accounts/users/users.ts';
import { systemContext } from '../../kernel/access/context.ts';
import { connectedCustomers, connectedProjects } from '../../kernel/access/visibility.ts';
import type { App } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import { FieldError } from '../../kernel/collection/field.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { countApiKeys } from '../../kernel/security/api-keys.ts';
import type { DisplayRow } from './listing.ts';
import { findUser, idOf, instantOf, store } from './people.ts';

/** A key to create, as given on the command line. */
interface KeySpec {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly networks: readonly string[];
  /** An instant or a duration; default: the maximum lifetime. */
  readonly until?: string | undefined;
  /** Names or uuids of the objects that the key is bound to. */
  readonly bounds: Readonly<Record<RoleScope, string | undefined>>;
}

/** Creates a key of a user and returns its text. Throws a readable error. */
export function addKey(app: App, username: string, { bounds, name, networks, scopes, until }: KeySpec): string {
  const context = systemContext(app);
  const user = findUser(app, username);
  if (!user.is_active) throw new Error(`the user "${username}" is disabled`);
  if (!app.config.api_keys_enabled) throw new Error('API keys are switched off by api_keys_enabled');
  if (name.trim() === '' || [...name].length > 150) throw new Error('the name must have 1 to 150 characters');
  const denial = takenName(app, user.id, name) ?? tooManyKeys(app, user.id);
  if (denial !== undefined) throw new Error(denial);
  const idsOf = (structure: RoleScope): number[] => {
    const nameOrUuid = bounds[structure];
    if (nameOrUuid === undefined) return [];
    const id = idOf(app, { structure, nameOrUuid });
    if (!canSee(app, user, structure, id))
      throw new Error(`the user "${username}" cannot see the ${structure} "${nameOrUuid}"`);
    return [id];
  };
  const expires = until === undefined ? latestEnd(context) : instantOf(until, context.now);
  inOption('until', () => checkNewEnd(expires, context));
  const columns = {
    name,
    scopes: JSON.stringify(inOption('scopes', () => checkScopes(scopes, app))),
    networks: JSON.stringify(inOption('networks', () => normalNetworks(networks))),
    expires,
  };
  let text = '';
  store(app, () => {
    const inserted = {
      user: user.id,
      author: null,
      columns,
      bounds: { customers: idsOf('customer'), projects: idsOf('project') },
    };
    text = insertApiKey(context, inserted).key;
  });
  return text;
}

/** Returns an error message if the user already has api_keys_per_user keys. */
const tooManyKeys = ({ config: { api_keys_per_user: max }, db }: App, user: number): string | undefined =>
  countApiKeys(db, user) < max ? undefined : `the user already has ${max} API keys`;

/** Whether a user can see a customer or project. */
function canSee({ db }: App, { id: user, is_staff, is_support }: UserRow, structure: RoleScope, id: number): boolean {
  if (is_staff || is_support) return true;
  const visible = structure === 'customer' ? connectedCustomers : connectedProjects;
  return db.values<number>(visible(sql`${user}`)).includes(id);
}

/** Runs the check of an option. Joins its messages into one readable error that names the option. */
function inOption<T>(name: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    throw new Error(`--${name}: ${error.messages.map(String).join(' ')}`, { cause: error });
  }
}

interface KeyColumns {
  readonly uuid: string;
  readonly username: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly expires: number | null;
  readonly ended: number | null;
  readonly last_used: number | null;
}

/** Returns the keys of one user or all users, sorted by owner and name. Throws a readable error if the user does not exist. */
export function listKeys(app: App, username: string | undefined): DisplayRow[] {
  const owner: Sql = username === undefined ? raw('TRUE') : sql`k.user_id = ${findUser(app, username).id}`;
  const instant = (at: number | null): string | null => (at === null ? null : isoTime(at));
  return app.db
    .all<KeyColumns>(sql`
      SELECT k.uuid, u.username, k.name, k.prefix, k.scopes, k.expires, k.ended, k.last_used
      FROM api_key k JOIN user u ON u.id = k.user_id WHERE k.revoked IS NULL AND ${owner}
      ORDER BY u.username COLLATE NOCASE, k.name, k.id`)
    .map(({ ended, expires, last_used: used, name, prefix, scopes, username: owned, uuid }) => ({
      uuid,
      user: owned,
      name,
      prefix,
      scopes: JSON.parse(scopes).join(' '),
      expired: ended !== null || (expires !== null && expires <= app.clock.now()),
      expires: instant(expires),
      last_used: instant(used),
    }));
}

/** Revokes the key with a uuid and returns its name and owner. Throws a readable error if it does not exist. */
export function revokeKey(app: App, text: string): { readonly name: string; readonly username: string } {
  const uuid = text.replaceAll('-', '').toLowerCase();
  const key = app.db.get<{ id: number; name: string; username: string }>(sql`
    SELECT k.id, k.name, u.username FROM api_key k JOIN user u ON u.id = k.user_id
    WHERE k.uuid = ${uuid} AND k.revoked IS NULL`);
  if (!key) throw new Error(`there is no API key "${text}"`);
  store(app, () => app.db.run(sql`DELETE FROM api_key WHERE id = ${key.id}`));
  return key;
}
