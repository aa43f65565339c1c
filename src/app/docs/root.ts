import { oidcPath } from '../../accounts/session/oidc/endpoint.ts';
import { loginOrigins } from '../../accounts/session/saml/identity-providers.ts';
import { version } from '../../kernel/app.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import { json, redirect } from '../../kernel/http/reply.ts';
import type { Part } from '../../kernel/http/router.ts';
import { consolePage } from '../console/console.ts';
import type { DemoLogins } from '../operation/program.ts';

const text = { type: 'string' };
const welcomeShape = objectShape({ name: text, version: text, api: text, docs: text });

/** GET /: links to the API and its documentation; for browsers, the console (core.md 3). */
export const welcome: Endpoint = {
  path: '/',
  name: 'Service',
  description: 'The name and version of the service, with its links.',
  open: true,
  operations: {
    GET: {
      summary: 'Returns the name and version of the service, with its links.',
      allowedFor: 'Any caller.',
      output: { status: 200, others: [302], shape: welcomeShape, types: ['text/html'] },
      handle: ({ base, config, db, incoming }) => {
        const docs = `${base}/docs/`;
        const vary = { Vary: 'Accept' };
        if (/text\/html/i.test(incoming.headers.accept ?? ''))
          return config.console_enabled
            ? consolePage(
                config.product_name,
                config.authentication_methods.includes('SAML2') ? loginOrigins(db, config) : [],
              )
            : redirect(docs, vary);
        return json({ name: config.product_name, version, api: `${base}/api/`, docs }, 200, vary);
      },
    },
  },
};

/** GET /api/: the path of every list by its prefix (core.md 3). */
export const root = (parts: () => readonly Part<Endpoint>[]): Endpoint => ({
  path: '/api/',
  name: 'Api Root',
  description: 'The collections of this API.',
  operations: {
    GET: {
      summary: 'Lists the collections of the API.',
      allowedFor: 'Any authenticated user.',
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'string', format: 'uri' } } },
      handle: ({ base }) =>
        json(Object.fromEntries(prefixesOf(parts()).map((prefix) => [prefix, `${base}/api/${prefix}/`]))),
    },
  },
});

/** Collections about the service instead of its data. Only staff may read them (core.md 14.6). */
export const ofTheService: readonly string[] = [
  'backups',
  'deployment-settings',
  'jobs',
  'operation',
  'outbox',
  'simulator',
];

/** Paths of one segment that are not data collections. */
const unlisted = new Set([
  ...ofTheService,
  'api-keys',
  'audit',
  'configuration',
  'notifications',
  'service-accounts',
  'notification-preferences',
  'second-factors',
  'sessions',
  'user-counters',
  'version',
]);

const prefixesOf = (parts: readonly Part<Endpoint>[]): string[] =>
  parts
    .filter((part) => 'endpoints' in part || part.operations.GET)
    .flatMap(({ path }) => /^\/api\/([a-z0-9-]+)\/$/.exec(path)?.[1] ?? [])
    .filter((prefix) => !unlisted.has(prefix))
    .sort();

/** GET /api/version/ */
export const versionEndpoint: Endpoint = {
  path: '/api/version/',
  name: 'Version',
  description: 'The version of the application.',
  open: true,
  operations: {
    GET: {
      summary: 'Returns the version of the application.',
      allowedFor: 'Any caller.',
      output: {
        status: 200,
        shape: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
      },
      handle: () => json({ version }),
    },
  },
};

const flag = { type: 'boolean' };
const coreFlags = {
  AUTHENTICATION_METHODS: { type: 'array', items: { type: 'string' } },
  INVITATIONS_ENABLED: flag,
  ALLOW_SIGNUP_WITHOUT_INVITATION: flag,
  VALIDATE_INVITATION_EMAIL: flag,
  OWNER_CAN_MANAGE_CUSTOMER: flag,
  OWNERS_CAN_MANAGE_OWNERS: flag,
  MANAGERS_CAN_MANAGE_ADMINS: flag,
  NATIVE_NAME_ENABLED: flag,
  COMPANY_TYPES: { type: 'array', items: { type: 'string' } },
};

const configurationShape = {
  type: 'object',
  properties: {
    WALDUR_CORE: {
      ...objectShape(coreFlags),
      properties: { ...coreFlags, POLICY_URL: { type: 'string', format: 'uri' } },
    },
    WALDUR_AUTH_SOCIAL: { type: 'object', maxProperties: 0 },
    DEMO: objectShape({
      password: { type: 'string' },
      logins: { type: 'array', items: objectShape({ username: { type: 'string' }, role: { type: 'string' } }) },
    }),
    TENANTRY_AUTH_OIDC: objectShape({
      PROVIDERS: {
        type: 'array',
        items: objectShape({
          NAME: { type: 'string' },
          LABEL: { type: 'string' },
          LOGIN_URL: { type: 'string', format: 'uri' },
          AUTO_REDIRECT: flag,
        }),
      },
    }),
    WALDUR_AUTH_SAML2: objectShape({
      ENABLE_SINGLE_LOGOUT: flag,
      ALLOW_TO_SELECT_IDENTITY_PROVIDER: flag,
      IDENTITY_PROVIDER_URL: { type: 'string' },
      IDENTITY_PROVIDER_LABEL: { type: 'string' },
    }),
  },
  required: ['WALDUR_CORE', 'WALDUR_AUTH_SOCIAL'],
};

/** Returns the logins of existing users. A folder that already had customers has no sample users. */
const existingLogins = (db: Database, { password, logins }: DemoLogins): DemoLogins => ({
  password,
  logins: logins.filter(
    ({ username }) => db.value(sql`SELECT 1 FROM user WHERE username = ${username} AND is_active`) !== undefined,
  ),
});

/** GET /api/configuration/: feature flags, named as existing web clients expect. */
export const configuration: Endpoint = {
  path: '/api/configuration/',
  name: 'Configuration',
  description: 'Public feature flags of this deployment.',
  open: true,
  operations: {
    GET: {
      summary: 'Returns the public feature flags.',
      allowedFor: 'Any caller.',
      output: { status: 200, shape: configurationShape },
      handle: ({ app: { deployment, oidcClients }, base, config, db }) =>
        json({
          WALDUR_CORE: {
            AUTHENTICATION_METHODS: config.authentication_methods,
            INVITATIONS_ENABLED: true,
            ALLOW_SIGNUP_WITHOUT_INVITATION: false,
            VALIDATE_INVITATION_EMAIL: config.validate_invitation_email,
            OWNER_CAN_MANAGE_CUSTOMER: config.owners_can_manage_customers,
            OWNERS_CAN_MANAGE_OWNERS: config.owners_can_manage_owners,
            MANAGERS_CAN_MANAGE_ADMINS: config.managers_can_manage_admins,
            NATIVE_NAME_ENABLED: config.native_name_enabled,
            COMPANY_TYPES: [],
            ...(config.policy_url !== null && { POLICY_URL: config.policy_url }),
          },
          WALDUR_AUTH_SOCIAL: {},
          ...(deployment.demo && { DEMO: existingLogins(db, deployment.demo) }),
          ...(oidcClients.size > 0 && {
            TENANTRY_AUTH_OIDC: {
              PROVIDERS: [...oidcClients.values()].map(({ provider: { autoRedirect, label, name } }) => ({
                NAME: name,
                LABEL: label,
                LOGIN_URL: `${base}${oidcPath}${name}/login/`,
                AUTO_REDIRECT: autoRedirect,
              })),
            },
          }),
          ...(config.authentication_methods.includes('SAML2') && {
            WALDUR_AUTH_SAML2: {
              ENABLE_SINGLE_LOGOUT: config.saml_enable_single_logout,
              ALLOW_TO_SELECT_IDENTITY_PROVIDER: config.saml_allow_to_select_identity_provider,
              IDENTITY_PROVIDER_URL: config.saml_identity_provider_url ?? '',
              IDENTITY_PROVIDER_LABEL: config.saml_identity_provider_label ?? '',
            },
          }),
        }),
    },
  },
};
