import { InitialLink } from '../../accounts/session/initial-link-secret.ts';
import { forgetInitialPassword } from '../../accounts/session/initial-password.ts';
import { oidcClients } from '../../accounts/session/oidc/client.ts';
import { failuresIn } from '../../accounts/session/oidc/failures.ts';
import { sourceOf } from '../../accounts/session/oidc/group-grants.ts';
import { readProviders } from '../../accounts/session/oidc/provider-file.ts';
import { samlThread } from '../../accounts/session/saml/saml-thread.ts';
import { openServiceKeys } from '../../accounts/session/saml/service-keys.ts';
import type { App } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';

/** The keys and identity providers of single sign-on. */
interface Logins {
  readonly samlKeys: App['samlKeys'];
  readonly oidcProviders: ReturnType<typeof readProviders>;
}

/** Reads the files of single sign-on. Throws ConfigError. */
export const readLogins = (config: Config): Logins => ({
  samlKeys: openServiceKeys(config),
  oidcProviders: readProviders(config),
});

type LoginServices = Pick<
  App,
  'identityIssuers' | 'initialLink' | 'oidcClients' | 'passwordChanged' | 'roleSources' | 'samlKeys' | 'samlThread'
>;

/** Returns the services of logins. `folder` has the file with the initial password. */
export const loginServices = (
  { oidcProviders, samlKeys }: Logins,
  db: SqliteDatabase,
  folder: string | undefined,
  resolver: Resolver,
): LoginServices => ({
  samlKeys,
  samlThread: samlThread(),
  oidcClients: oidcClients(oidcProviders, resolver, failuresIn(db)),
  roleSources: new Map(oidcProviders.map((provider) => [sourceOf(provider), provider.label])),
  identityIssuers: new Map(oidcProviders.map(({ issuer, name }) => [name, issuer])),
  initialLink: new InitialLink(),
  passwordChanged: (username) => db.onceStored(() => forgetInitialPassword(folder, username)),
});
