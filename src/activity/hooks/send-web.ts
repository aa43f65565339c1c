import type { Context } from '../../kernel/access/context.ts';
import { type App, version } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import { missingLease } from '../../kernel/durability/storage-error.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import { attemptOf } from './attempt.ts';
import type { DueDelivery } from './due.ts';
import { chatMessageOf, formOf, payloadOf } from './payload.ts';
import { type Destinations, destinationsOf, HookClient, type Post } from './post.ts';
import { failureOf, outcomeOf, type Sender } from './sender.ts';
import { signatureHeaders } from './signature.ts';

/** Builds the request to a web hook, without its signature. */
export function webPostOf(delivery: Omit<DueDelivery, 'next_attempt'>, config: Config): Post {
  const payload = payloadOf(delivery);
  const isForm = delivery.content_type === 'form';
  return {
    url: present(delivery.destination_url),
    headers: {
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'User-Agent': `${config.product_name.replace(/[^\w!#$%&'*+.^`|~-]+/g, '-')}/${version}`,
    },
    body: isForm ? formOf(payload) : delivery.format === 'slack' ? chatMessageOf(payload) : JSON.stringify(payload),
  };
}

/** Delivers to web hooks by a signed POST of the event. */
export class WebSender implements Sender {
  readonly #poster: HookClient;
  readonly #destinations: Destinations;

  constructor(
    private readonly app: App,
    resolve: Resolver,
  ) {
    this.#destinations = destinationsOf(app.config);
    this.#poster = new HookClient({
      resolve,
      destinations: this.#destinations,
      pausedBy: () => missingLease(app.db.trouble),
    });
  }

  async send(delivery: DueDelivery, { now }: Context): Promise<Outcome> {
    const post = webPostOf(delivery, this.app.config);
    const signature = signatureHeaders(this.#secrets(delivery, now), delivery.uuid, now, post.body);
    const startedAt = performance.now();
    try {
      const response = await this.#poster.post({ ...post, headers: { ...post.headers, ...signature } });
      const attempt = attemptOf(now, response, performance.now() - startedAt, this.#destinations.mayReveal);
      return { ...outcomeOf(response, this.app.clock.now()), attempt: JSON.stringify(attempt) };
    } catch (error) {
      return { ...failureOf(error, this.app.clock.now()), attempt: JSON.stringify({ sent: now }) };
    }
  }

  close(): void {
    this.#poster.close();
  }

  /** Returns the hook's secret and, for a day after a rotation, the previous one. */
  #secrets(delivery: DueDelivery, now: number): string[] {
    const sealedSecrets =
      delivery.old_secret_ends !== null && now < delivery.old_secret_ends
        ? [delivery.secret, delivery.old_secret]
        : [delivery.secret];
    return sealedSecrets.map((sealed) => this.app.secrets.open(present(sealed), delivery.hook_uuid));
  }
}
