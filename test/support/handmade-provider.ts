/** OpenID Connect providers in the test process, with documents, tokens and responses that tests control. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import type { Json } from './fixture.ts';

/** A login that the service has started in a browser. */
export interface StartedLogin {
  readonly state: string;
  readonly nonce: string;
  readonly challenge: string;
  readonly cookie: string;
}

interface Received {
  readonly path: string;
  readonly body: string;
}

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse, body: string) => void;

/** A key pair, published in a JWK set. */
export interface Keys {
  readonly privateKey: CryptoKey;
  readonly jwk: Json;
}

export async function newKeys(kid: string, alg = 'RS256'): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** One issuer of a handmade provider. */
export class HandmadeIssuer {
  /** Overrides members of the discovery document. */
  document: Json;
  /** The keys of the JWK set. */
  published: Json[];
  /** Claims of the next ID tokens, besides the standard ones. */
  claims: Json = {};
  /** The response of userinfo, apart from the subject. */
  userInfo: Json = {};
  /** Whether the token endpoint checks PKCE. */
  checksPkce = true;
  /** Creates the ID token from its standard claims. */
  idToken: (claims: Json) => Promise<string> | string = (claims) => this.sign(claims);
  /** Overrides responses, by the last segment of the path. */
  readonly handlers = new Map<string, Handler>();
  /** The subject of the last ID token. */
  #subject: unknown;
  readonly #codes = new Map<string, Json>();

  constructor(
    readonly url: string,
    readonly keys: Keys,
    readonly now: () => number,
  ) {
    const base = url.replace(/\/$/, '');
    this.published = [keys.jwk];
    this.document = {
      issuer: url,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      userinfo_endpoint: `${base}/userinfo`,
      jwks_uri: `${base}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
  }

  /** Signs claims with the key of the issuer, or another one. */
  sign(
    claims: Json,
    header: Partial<JWTHeaderParameters> = {},
    key: Parameters<SignJWT['sign']>[0] = this.keys.privateKey,
  ) {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: this.keys.jwk.kid, ...header }).sign(key);
  }

  /** Creates a code for a login of a user with these claims. */
  code(login: Pick<StartedLogin, 'nonce' | 'challenge'>, claims: Json): string {
    const code = `code-${this.#codes.size}`;
    this.#codes.set(code, { ...login, claims });
    return code;
  }

  /** Returns the claims of an ID token: the standard ones and these. */
  usual(claims: Json): Json {
    return { iss: this.url, aud: 'tenantry', iat: this.now(), exp: this.now() + 300, ...claims };
  }

  async serve(incoming: IncomingMessage, outgoing: ServerResponse, name: string, body: string): Promise<void> {
    const handler = this.handlers.get(name);
    if (handler) return handler(incoming, outgoing, body);
    const respond = (value: unknown, status = 200): void => {
      outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    };
    if (name === 'openid-configuration') return respond(this.document);
    if (name === 'keys') return respond({ keys: this.published });
    if (name === 'userinfo') return respond({ sub: this.#subject, ...this.userInfo });
    if (name === 'authorize') {
      const redirect = new URL(incoming.url ?? '', this.url).searchParams.get('redirect_uri') ?? '';
      outgoing.writeHead(302, { Location: `${redirect}?error=login_required` }).end();
      return;
    }
    if (name !== 'token') return respond({ error: 'not_found' }, 404);
    const form = new URLSearchParams(body);
    const entry = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!entry || (this.checksPkce && challenge !== entry.challenge)) return respond({ error: 'invalid_grant' }, 400);
    const claims = this.usual({ nonce: entry.nonce, ...this.claims, ...entry.claims });
    this.#subject = claims.sub;
    respond({ access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: await this.idToken(claims) });
  }

  /** Removes all overrides of the issuer. */
  reset(): void {
    const { document, published } = new HandmadeIssuer(this.url, this.keys, this.now);
    Object.assign(this, { document, published, claims: {}, userInfo: {}, checksPkce: true });
    this.idToken = (claims) => this.sign(claims);
    this.handlers.clear();
  }
}

/** An HTTP server on the loopback with several issuers. */
export class HandmadeProvider {
  readonly received: Received[] = [];
  /** Issuers by the name of the provider in the settings. */
  readonly issuers = new Map<string, HandmadeIssuer>();

  private constructor(
    private readonly server: Server,
    readonly keys: Keys,
    private readonly now: () => number,
  ) {}

  /** Starts a provider. `now` returns its time in seconds. */
  static async start(now: () => number): Promise<HandmadeProvider> {
    const server = createServer();
    const provider = new HandmadeProvider(server, await newKeys('first'), now);
    server.on('request', (incoming, outgoing) => provider.#serve(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Adds a provider's issuer at a path. */
  issuer(name: string, path = `/${name}`, keys = this.keys): HandmadeIssuer {
    const issuer = new HandmadeIssuer(`${this.origin}${path}`, keys, this.now);
    this.issuers.set(name, issuer);
    return issuer;
  }

  #serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.on('end', () => {
      const path = (incoming.url ?? '').replace(/\?.*/, '');
      this.received.push({ path, body });
      const issuer = [...this.issuers.values()].find(({ url }) =>
        `${this.origin}${path}`.startsWith(`${url.replace(/\/$/, '')}/`),
      );
      if (!issuer) outgoing.writeHead(404).end();
      else void issuer.serve(incoming, outgoing, path.split('/').at(-1) ?? '', body);
    });
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
