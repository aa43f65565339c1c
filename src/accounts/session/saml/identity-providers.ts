import type { Config } from '../../../kernel/config/config.ts';
import type { Database } from '../../../kernel/db/database.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { urlOf } from '../../../kernel/url.ts';

/** An identity provider from metadata. */
export interface IdentityProvider {
  readonly entityId: string;
  readonly name: string;
  /** URL of single sign-on by HTTP-Redirect; null if unsupported. */
  readonly loginUrl: string | null;
  /** URL of single logout by HTTP-Redirect; null if unsupported. */
  readonly logoutUrl: string | null;
  /** URL for responses to its logout requests; null for `logoutUrl`. */
  readonly logoutResponseUrl: string | null;
  /** Certificates of its signing keys, base64. */
  readonly certificates: readonly string[];
}

interface IdpRow extends Omit<IdentityProvider, 'certificates'> {
  readonly certificates: string;
}

/** Returns the identity provider with this entity id. */
export function findIdentityProvider(db: Database, entityId: string): IdentityProvider | undefined {
  const row = db.get<IdpRow>(sql`
    SELECT entity_id AS entityId, name, login_url AS loginUrl, logout_url AS logoutUrl,
      logout_response_url AS logoutResponseUrl, certificates
    FROM saml_idp WHERE entity_id = ${entityId}`);
  return row && { ...row, certificates: JSON.parse(row.certificates) };
}

/** An origin without header separators. */
const plainOrigin = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])(:\d+)?$/;

/** Returns the origins to which a login may redirect, without duplicates. */
export const loginOrigins = (
  db: Database,
  { login_failed_url: failed }: Pick<Config, 'login_failed_url'>,
): string[] => {
  const urls = db.values<string>(sql`SELECT DISTINCT login_url FROM saml_idp WHERE login_url IS NOT NULL`);
  const origins = [...urls, failed ?? '']
    .map((url) => urlOf(url)?.origin ?? '')
    .filter((origin) => plainOrigin.test(origin));
  return [...new Set(origins)].sort();
};

/** Returns the id of a source, creating its row if necessary. */
function sourceId(db: Database, name: string): number {
  return db.value<number>(sql`SELECT id FROM saml_source WHERE name = ${name}`) ?? db.insert('saml_source', { name });
}

/** Whether a source has identity providers. */
export const hasProviders = (db: Database, name: string): boolean =>
  db.value(sql`SELECT 1 FROM saml_idp i JOIN saml_source s ON s.id = i.source_id WHERE s.name = ${name}`) !== undefined;

/** Removes all sources except these, with their identity providers. */
export const removeOtherSources = (db: Database, names: readonly string[]): void =>
  void db.run(sql`DELETE FROM saml_source WHERE name NOT IN (SELECT value FROM json_each(${JSON.stringify(names)}))`);

/** Stores the error of a failed read. The source keeps its identity providers. */
export const storeFailure = (db: Database, name: string, message: string): void => {
  db.update('saml_source', sourceId(db, name), { error_message: message });
};

/** Returns the sources whose last read failed, with the error. */
export const failedSources = (db: Database): { readonly name: string; readonly error: string }[] =>
  db.all(sql`SELECT name, error_message AS error FROM saml_source WHERE error_message <> '' ORDER BY name`);

/**
 * Replaces the identity providers of a source. Returns the entity ids that it skipped because another source already has them.
 */
export function replaceProviders(
  db: Database,
  name: string,
  providers: readonly IdentityProvider[],
  now: number,
): string[] {
  const source = sourceId(db, name);
  db.update('saml_source', source, { refreshed: now, error_message: '' });
  const named = JSON.stringify(providers.map(({ entityId }) => entityId));
  db.run(sql`
    DELETE FROM saml_idp
    WHERE source_id = ${source} AND entity_id NOT IN (SELECT value FROM json_each(${named}))`);
  return providers.filter((provider) => !store(db, source, provider)).map(({ entityId }) => entityId);
}

function store(
  db: Database,
  source: number,
  { certificates, entityId, loginUrl, logoutResponseUrl, logoutUrl, name }: IdentityProvider,
): boolean {
  return (
    db.run(sql`
      INSERT INTO saml_idp (source_id, entity_id, name, login_url, logout_url, logout_response_url, certificates)
      VALUES (
        ${source}, ${entityId}, ${name}, ${loginUrl}, ${logoutUrl}, ${logoutResponseUrl}, ${JSON.stringify(certificates)}
      )
      ON CONFLICT (entity_id) DO UPDATE SET
        name = excluded.name, login_url = excluded.login_url, logout_url = excluded.logout_url,
        logout_response_url = excluded.logout_response_url, certificates = excluded.certificates
      WHERE source_id = ${source}`).changes > 0
  );
}
