/** Checks the configured identity providers, for commands and the API (services.md 11.2). */
import { serviceBase } from '../../accounts/session/login-steps.ts';
import type { OidcClient } from '../../accounts/session/oidc/client.ts';
import { redirectUriAt } from '../../accounts/session/oidc/endpoint.ts';
import { checkProvider } from '../../accounts/session/oidc/login-check.ts';
import type { readMetadata } from '../../accounts/session/saml/idp-metadata.ts';
import { checkMetadata } from '../../accounts/session/saml/login-check.ts';
import { metadataSources } from '../../accounts/session/saml/refresh.ts';
import { readMetadataOnThread } from '../../accounts/session/saml/saml-thread.ts';
import type { LoginCheck } from '../../accounts/session/sso/login-check.ts';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { messages, objectShape } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { text } from '../../kernel/collection/values.ts';
import type { Config } from '../../kernel/config/config.ts';
import { HttpError, invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import { requireStaff } from './requests.ts';

/** The provider to check, and the dependencies of the check. */
interface Setup {
  readonly config: Config;
  readonly clients: ReadonlyMap<string, OidcClient>;
  readonly resolve: Resolver;
  /** Base URL of the service at providers; undefined if it has none. */
  readonly base: string | undefined;
  readonly now: number;
  /** Parses SAML metadata. */
  readonly parse: (
    metadata: Parameters<typeof readMetadata>[0],
  ) => ReturnType<typeof readMetadata> | Promise<ReturnType<typeof readMetadata>>;
}

/**
 * Checks all identity providers, or only one: `name` is an OpenID Connect provider, or a file or URL of SAML metadata. Returns
 * undefined if none has the name.
 */
export async function checkLogins(
  { base, clients, config, now, parse, resolve }: Setup,
  name?: string,
): Promise<readonly LoginCheck[] | undefined> {
  const isWanted = (known: string): boolean => name === undefined || known === name;
  const { files, urls } = metadataSources(config, resolve);
  const checks = [
    ...[...clients.values()]
      .filter(({ provider }) => isWanted(provider.name))
      .map((client) =>
        checkProvider(client, base === undefined ? undefined : redirectUriAt(base, client.provider.name), now),
      ),
    ...[...files, ...urls].filter(({ label }) => isWanted(label)).map((source) => checkMetadata(source, parse, now)),
  ];
  return name !== undefined && checks.length === 0 ? undefined : Promise.all(checks);
}

const fields = {
  name: text({
    max: 1000,
    example: '',
    help: 'Name of an OpenID Connect provider, or file or URL of SAML metadata; default: all.',
  }),
};

function baseOf(request: Request): string | undefined {
  try {
    return serviceBase(request);
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

async function prepare(request: Request): Promise<readonly LoginCheck[]> {
  requireStaff(request);
  const { name = '' } = validate(fields, request, 'create');
  const { app, config, now } = request;
  const setup: Setup = {
    config,
    clients: app.oidcClients,
    resolve: app.resolve,
    base: baseOf(request),
    now,
    parse: (metadata) => readMetadataOnThread(app, metadata),
  };
  const checks = await checkLogins(setup, name === '' ? undefined : name);
  if (!checks) throw invalid({ name: [messages.choice(name)] });
  return checks;
}

const shape = {
  type: 'array',
  items: {
    title: 'LoginCheck',
    ...objectShape({
      name: { type: 'string' },
      protocol: { type: 'string', enum: ['oidc', 'saml'] },
      steps: {
        type: 'array',
        items: objectShape({
          step: { type: 'string' },
          result: { type: 'string', description: '`ok`, or what to change.' },
        }),
      },
    }),
  },
} as const;

/** POST /api/operation/login-check/ (services.md 11.2) */
export const loginCheckEndpoint: Endpoint = {
  path: '/api/operation/login-check/',
  name: 'Login Check',
  description: 'Whether users can log in at the identity providers of the settings.',
  actions: (request) =>
    staff.may(request, undefined) ? { POST: describeFields(fields, request, 'create') } : undefined,
  operations: {
    POST: {
      summary: 'Checks the identity providers of the settings. No user is needed.',
      unaudited: 'It sends requests to identity providers and changes nothing.',
      allowedFor: staff.allowedFor,
      input: { fields, purpose: 'create' },
      output: { status: 200, shape },
      rejections: { 503: true },
      prepare,
      handle: (_request, checks: readonly LoginCheck[]) => json(checks),
    },
  },
};
