import packageJson from '../../package.json' with { type: 'json' };
import type { Endpoint } from '../collection/endpoint.ts';
import { json } from '../http/reply.ts';

/** The version of the program. */
export const { version } = packageJson;

/** GET /api/: every list path by its prefix (core.md 3). */
export const root = (endpoints: () => readonly Endpoint[]): Endpoint => ({
  path: '/api/',
  name: 'Api Root',
  description: 'The collections of this API.',
  operations: {
    GET: {
      summary: 'Lists the collections of the API.',
      who: 'Everybody.',
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'string', format: 'uri' } } },
      handle: ({ base }) => json(Object.fromEntries(prefixesOf(endpoints()).map((prefix) => [prefix, `${base}/api/${prefix}/`]))),
    },
  },
});

/** Lists of one segment that are no collections. */
const unlisted = new Set(['configuration', 'user-counters', 'version']);

const prefixesOf = (endpoints: readonly Endpoint[]): string[] =>
  endpoints.flatMap(({ operations, path }) => (operations.GET && /^\/api\/([a-z0-9-]+)\/$/.exec(path)?.[1]) || []).filter((prefix) => !unlisted.has(prefix)).sort();

/** GET /api/version/ */
export const versionEndpoint: Endpoint = {
  path: '/api/version/',
  name: 'Version',
  description: 'The version of the application.',
  open: true,
  operations: {
    GET: {
      summary: 'Answers the version of the application.',
      who: 'Anybody.',
      output: { status: 200, shape: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] } },
      handle: () => json({ version }),
    },
  },
};

/** GET /api/configuration/: feature flags under the names existing web clients know. */
export const configuration: Endpoint = {
  path: '/api/configuration/',
  name: 'Configuration',
  description: 'Public feature flags of this deployment.',
  open: true,
  operations: {
    GET: {
      summary: 'Answers the public feature flags.',
      who: 'Anybody.',
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'object' } } },
      handle: ({ config }) =>
        json({
          WALDUR_CORE: {
            AUTHENTICATION_METHODS: config.authentication_methods,
            INVITATIONS_ENABLED: true,
            ALLOW_SIGNUP_WITHOUT_INVITATION: false,
            VALIDATE_INVITATION_EMAIL: config.validate_invitation_email,
            OWNER_CAN_MANAGE_CUSTOMER: config.owners_can_manage_customers,
            OWNERS_CAN_MANAGE_OWNERS: config.owners_can_manage_owners,
            NATIVE_NAME_ENABLED: config.native_name_enabled,
            COMPANY_TYPES: [],
          },
          WALDUR_AUTH_SOCIAL: {},
        }),
    },
  },
};
