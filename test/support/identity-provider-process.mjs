/**
 * An identity provider in a process of its own, made of samlp. Reads its settings as JSON from the first argument:
 * `{entityId, key, cert, service: {entityId, cert, assertionConsumer, logout}}`; prints its port. Everybody is logged in as
 * the user that was told last:
 *
 *   POST /next          JSON: the user, and options of samlp that stand over the usual ones; nobody is logged in any more
 *   GET /login          takes a request to log in, whose signature must be the service's; answers a form with the response
 *   GET, POST /logout   takes a request to log out, or an answer; without either, starts to log everybody out
 */
import { createServer } from 'node:http';
import samlp from 'samlp';
import SessionParticipants from 'samlp/lib/sessionParticipants/index.js';

const { cert, entityId, key, service } = JSON.parse(process.argv[2]);
const participants = new SessionParticipants([]);
const states = new Map();
let next = {};
let logins = 0;

/** What samlp remembers between two steps of a logout. */
const store = {
  save: (_request, state, callback) => {
    const handle = `state-${states.size + 1}`;
    states.set(handle, state);
    callback(null, handle);
  },
  load: (_request, handle, options, callback = options) => callback(null, states.get(handle)),
  update: (_request, handle, state, callback) => {
    states.set(handle, state);
    callback(null);
  },
};

const profileMapper = (user) => ({
  getClaims: () => user.attributes,
  getNameIdentifier: () => ({
    nameIdentifier: user.nameId ?? user.attributes.uid,
    nameIdentifierFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  }),
});

function logIn(request, response, fail) {
  const sessionIndex = `session-${++logins}`;
  const { user, ...options } = next;
  participants._participants.push({
    serviceProviderId: service.entityId,
    nameId: user.nameId ?? user.attributes.uid,
    nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    sessionIndex,
    serviceProviderLogoutURL: service.logout,
    cert: service.cert,
  });
  const send = samlp.auth({
    issuer: entityId,
    key,
    cert,
    signingCert: service.cert,
    recipient: service.assertionConsumer,
    destination: service.assertionConsumer,
    sessionIndex,
    profileMapper,
    includeAttributeNameFormat: true,
    typedAttributes: false,
    getUserFromRequest: () => user,
    getPostURL: (_audience, _request, _message, callback) => callback(null, service.assertionConsumer),
    ...options,
  });
  send(request, response, fail);
}

function logOut(request, response, fail) {
  samlp.logout({
    issuer: entityId,
    key,
    cert,
    deflate: true,
    signatureAlgorithm: 'rsa-sha256',
    digestAlgorithm: 'sha256',
    protocolBinding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
    sessionParticipants: participants,
    store,
    ...next.logout,
  })(request, response, fail);
}

/** As much of Express as samlp needs. */
function dressed(outgoing) {
  return Object.assign(outgoing, {
    set: (name, value) => outgoing.setHeader(name, value),
    send: (content) => (typeof content === 'number' ? outgoing.writeHead(content).end() : outgoing.end(content)),
    redirect: (location) => outgoing.writeHead(302, { Location: location }).end(),
  });
}

const server = createServer((incoming, outgoing) => {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    const url = new URL(incoming.url, 'http://idp');
    const text = Buffer.concat(chunks).toString();
    if (url.pathname === '/next') {
      next = JSON.parse(text);
      participants._participants = [];
      return outgoing.end();
    }
    const request = Object.assign(incoming, {
      query: Object.fromEntries(url.searchParams),
      body: Object.fromEntries(new URLSearchParams(text)),
      originalUrl: incoming.url,
    });
    const fail = (error) => outgoing.writeHead(400).end(String(error?.message ?? error));
    try {
      (url.pathname === '/login' ? logIn : logOut)(request, dressed(outgoing), fail);
    } catch (error) {
      fail(error);
    }
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
