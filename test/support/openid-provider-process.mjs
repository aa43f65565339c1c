/**
 * An OpenID Connect provider in a separate process, built with oidc-provider. Reads its settings as JSON from the first argument:
 * `{clients, options}`, the metadata of its clients and further options of oidc-provider; prints its port. All browsers log in
 * as the current user, without a page:
 *
 *   POST /next   JSON: `{accountId, claims}` of the current user
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { clients, options } = JSON.parse(process.argv[2]);
let next = { accountId: 'nobody', claims: {} };

const findAccount = (_context, accountId) => ({
  accountId,
  claims: () => ({ sub: accountId, ...(accountId === next.accountId && next.claims) }),
});

/** All clients have the consent of all users. */
async function loadExistingGrant(context) {
  const known = context.oidc.session.grantIdFor(context.oidc.client.clientId);
  if (known) return context.oidc.provider.Grant.find(known);
  const grant = new context.oidc.provider.Grant({
    clientId: context.oidc.client.clientId,
    accountId: context.oidc.session.accountId,
  });
  grant.addOIDCScope('openid email profile groups');
  await grant.save();
  return grant;
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients,
    findAccount,
    loadExistingGrant,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'first', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['test'] },
    // A separate dispatcher rejects the loopback, where the service listens.
    fetch: (url, { dispatcher: _, ...request }) => fetch(url, request),
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
      groups: ['groups'],
    },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = form;
        },
        postLogoutSuccessSource: (context) => {
          context.body = 'logged out';
        },
      },
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ...options,
  });
  provider.on('server_error', (_context, error) => console.error(error));
  const serve = provider.callback();
  server.on('request', (incoming, outgoing) => {
    const { pathname } = new URL(incoming.url, 'http://op');
    if (pathname === '/next') {
      const chunks = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => {
        next = JSON.parse(Buffer.concat(chunks));
        outgoing.end();
      });
    } else if (pathname.startsWith('/interaction/')) {
      const result = next.error ? { error: next.error } : { login: { accountId: next.accountId } };
      provider
        .interactionFinished(incoming, outgoing, result, { mergeWithLastSubmission: false })
        .catch((error) => outgoing.writeHead(500).end(String(error)));
    } else serve(incoming, outgoing);
  });
  console.log(port);
});
process.stdin.on('end', () => process.exit()).resume();
