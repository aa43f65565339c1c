import { sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute, second } from '../../kernel/clock.ts';
import { missingLease } from '../../kernel/durability/storage-error.ts';
import type { HttpResponse } from '../../kernel/net/http-client.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { errorOf } from '../../kernel/present.ts';
import type { DueDelivery } from './due.ts';
import { retryAfterOf } from './outcome.ts';
import { type EventPayload, payloadOf } from './payload.ts';
import { HookClient, type Post, PostError } from './post.ts';
import { failureOf, outcomeOf, type Sender } from './sender.ts';

/** Delivers to push hooks through the operator's gateway. */
export class PushSender implements Sender {
  readonly #poster: HookClient;
  readonly #account: ServiceAccount | undefined;

  /** Throws if the service account file is invalid. */
  constructor(private readonly app: App) {
    this.#poster = new HookClient({ resolve: app.resolve, pausedBy: () => missingLease(app.db.trouble) });
    const file = app.config.push_service_account;
    if (file) this.#account = new ServiceAccount(file, this.#poster);
  }

  async send(delivery: DueDelivery, context: Context): Promise<Outcome> {
    if (delivery.token === null) return { status: 'skipped', error: 'The hook has no token.' };
    try {
      const post = await this.#post(delivery, this.app.secrets.open(delivery.token, delivery.hook_uuid), context);
      if (!post) return { status: 'skipped', error: `Push to ${delivery.platform} is not set up.` };
      const response = await this.#poster.post(post);
      if (response.status === 401) this.#account?.discardToken();
      return gatewayOutcome(response, this.app.clock.now());
    } catch (error) {
      return failureOf(error, this.app.clock.now());
    }
  }

  close(): void {
    this.#poster.close();
  }

  /** Builds the request to the gateway; undefined if none is configured for the platform. */
  async #post(delivery: DueDelivery, token: string, { now }: Context): Promise<Post | undefined> {
    const { config } = this.app;
    const event = payloadOf(delivery);
    const isIos = delivery.platform === 'iOS';
    const text = {
      title: config.push_title ?? `${config.product_name} notification`,
      body: event.message || 'New event',
    };
    if (this.#account) {
      const url =
        config.push_gateway_url ?? `https://fcm.googleapis.com/v1/projects/${this.#account.project}/messages:send`;
      const ios = isIos ? { apns: { payload: { aps: { 'content-available': 1 } } } } : {};
      const message = {
        token,
        notification: { title: text.title, body: text.body },
        data: { event: JSON.stringify(gatewayEvent(event)) },
        ...ios,
      };
      return jsonPost(url, `Bearer ${await this.#account.accessToken(now)}`, { message });
    }
    const key = isIos ? config.push_server_key_ios : config.push_server_key_android;
    if (!key || !config.push_gateway_url) return undefined;
    const notification = { body: text.body, title: text.title, image: 'icon' };
    const ios = isIos ? { 'content-available': '1' } : {};
    return jsonPost(config.push_gateway_url, `key=${key}`, {
      to: token,
      notification,
      data: { event: gatewayEvent(event) },
      ...ios,
    });
  }
}

const gatewayEvent = ({ context, levelname, message, timestamp, type }: EventPayload) => ({
  timestamp,
  levelname,
  message,
  type,
  context,
});

const jsonPost = (url: string, authorization: string, body: unknown): Post => ({
  url,
  headers: { 'Content-Type': 'application/json', Authorization: authorization },
  body: JSON.stringify(body),
});

/** Maps a response of the gateway to an outcome. A 2xx response may also contain an error, such as an unregistered token. */
function gatewayOutcome(response: HttpResponse, now: number): Outcome {
  const error = gatewayError(response.body.toString());
  const outcome = outcomeOf(response, now);
  const isGone = (outcome.status === 'failed' && outcome.gone) || /^(NotRegistered|UNREGISTERED)$/.test(error ?? '');
  if (error === undefined) return outcome;
  const retryAfter = retryAfterOf(response.headers['retry-after'], now);
  return {
    status: 'failed',
    code: response.status,
    gone: isGone,
    retryAfter,
    error: `The gateway responded with ${response.status}: ${error}.`,
  };
}

/** The known members of a gateway error. */
interface GatewayError {
  readonly details?: readonly { readonly errorCode?: string }[];
  readonly status?: string;
  readonly message?: string;
}

interface Failure {
  readonly error?: GatewayError | string | number | boolean | null;
}

/** Returns the error in a response of the gateway, in either of its two formats. */
function gatewayError(body: string): string | undefined {
  let value: (Failure & { readonly results?: readonly (Failure | null)[] }) | null;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const { error, results } = value ?? {};
  const reported =
    error ?? (Array.isArray(results) ? results.find((result) => result?.error !== undefined)?.error : undefined);
  if (reported === undefined || reported === null) return undefined;
  if (typeof reported !== 'object') return String(reported);
  const { details, message, status } = reported;
  const code = Array.isArray(details)
    ? details.find((detail) => detail?.errorCode !== undefined)?.errorCode
    : undefined;
  return String(code ?? status ?? message ?? 'error');
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging';

/** Gets access tokens for a service account by sending a signed assertion to the token endpoint in its key file. */
class ServiceAccount {
  readonly project: string;
  readonly #email: string;
  readonly #key: string;
  readonly #endpoint: string;
  #token: { readonly text: string; readonly since: number; readonly expires: number } | undefined;

  constructor(
    file: string,
    private readonly poster: HookClient,
  ) {
    const { client_email: email, private_key: key, project_id: project, token_uri: endpoint } = readKeyFile(file);
    if (!email || !key || !project || !endpoint)
      throw new Error(`push_service_account: ${file} is not the key file of a service account`);
    this.project = project;
    this.#email = email;
    this.#key = key;
    this.#endpoint = endpoint;
  }

  /** Returns a token that is valid for at least a minute. Rejects with a PostError. */
  async accessToken(now: number): Promise<string> {
    if (this.#token && now >= this.#token.since && now < this.#token.expires - minute) return this.#token.text;
    const response = await this.poster.post({
      url: this.#endpoint,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: this.#assertion(now),
      }).toString(),
    });
    const { access_token: text, expires_in: seconds } = parseTokenResponse(response);
    if (typeof text !== 'string')
      throw new PostError(
        `The token endpoint of the push gateway responded with ${response.status}.`,
        response.headers['retry-after'],
      );
    this.#token = { text, since: now, expires: now + (typeof seconds === 'number' ? seconds * second : hour) };
    return text;
  }

  /** Makes the next call request a new token, after the gateway has rejected the current one. */
  discardToken(): void {
    this.#token = undefined;
  }

  #assertion(now: number): string {
    const issued = Math.floor(now / second);
    const claims = { iss: this.#email, scope, aud: this.#endpoint, iat: issued, exp: issued + 3600 };
    const signingInput = [{ alg: 'RS256', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signingInput}.${sign('RSA-SHA256', Buffer.from(signingInput), this.#key).toString('base64url')}`;
  }
}

function readKeyFile(file: string): Readonly<Record<string, string | undefined>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`push_service_account: ${file} can not be read: ${errorOf(error).message}`);
  }
}

function parseTokenResponse({ body, status }: HttpResponse): { access_token?: unknown; expires_in?: unknown } {
  if (status !== 200) return {};
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    return {};
  }
}
