import type { App, Context } from '../../kernel/access/app.ts';
import type { Resolver } from '../../kernel/net/resolver.ts';
import type { Outcome } from '../../kernel/outbox/outcome.ts';
import { present } from '../../kernel/present.ts';
import { version } from '../../kernel/version.ts';
import { destinationsOf } from './destinations.ts';
import type { DueDelivery } from './due.ts';
import { formOf, payloadOf } from './payload.ts';
import { HookClient } from './post.ts';
import { failureOf, outcomeOf, type Sender } from './sender.ts';
import { signatureHeaders } from './signature.ts';

/** Delivers to web hooks: a signed POST of the event. */
export class WebSender implements Sender {
  readonly #poster: HookClient;
  readonly #userAgent: string;

  constructor(
    private readonly app: App,
    resolve: Resolver,
  ) {
    const { config } = app;
    this.#poster = new HookClient({ resolve, destinations: destinationsOf(config) });
    this.#userAgent = `${config.product_name.replace(/[^\w!#$%&'*+.^`|~-]+/g, '-')}/${version}`;
  }

  async send(delivery: DueDelivery, { now }: Context): Promise<Outcome> {
    const payload = payloadOf(delivery);
    const isForm = delivery.content_type === 'form';
    const body = isForm ? formOf(payload) : JSON.stringify(payload);
    const headers = {
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'User-Agent': this.#userAgent,
      ...signatureHeaders(this.#secrets(delivery, now), delivery.uuid, now, body),
    };
    const url = present(delivery.destination_url);
    try {
      return outcomeOf(await this.#poster.post({ url, headers, body }), this.app.clock.now());
    } catch (error) {
      return failureOf(error, this.app.clock.now());
    }
  }

  close(): void {
    this.#poster.close();
  }

  /** The hook's secret, and for a day after its rotation the one before. */
  #secrets(delivery: DueDelivery, now: number): string[] {
    const kept =
      delivery.old_secret_ends !== null && now < delivery.old_secret_ends
        ? [delivery.secret, delivery.old_secret]
        : [delivery.secret];
    return kept.map((sealed) => this.app.secrets.open(present(sealed), delivery.hook_uuid));
  }
}
