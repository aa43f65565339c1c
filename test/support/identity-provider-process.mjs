/**
 * An identity provider in a separate process, built with samlp. Reads its settings as JSON from the first argument:
 * `{entityId, key, cert, service: {entityId, cert, assertionConsumer, logout}}`; prints its port. All browsers are logged in
 * as the current user:
 *
 *   POST /next          JSON: the current user, and options of samlp that override the defaults; ends all sessions
 *   GET /login          accepts a login request, whose signature must be the service's; returns a form with the response
 *   GET, POST /logout   accepts a logout request or response; without either, starts a logout of all services
 */
import { createServer } from 'node:http';
import samlp from 'samlp';
import SessionParticipants from 'samlp/lib/sessionParticipants/index.js';

const { cert, entityId, key, service } = JSON.parse(process.argv[2]);
const participants = new SessionParticipants([]);
const states = new Map();
let next = {};
let logins = 0;

/** The state of samlp between two steps of a logout. */
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

/** The parts of Express that samlp needs. */
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
