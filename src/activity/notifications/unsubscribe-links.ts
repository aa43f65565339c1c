/** Unsubscribe links in mails (events.md 5.10): a uuid and the first 16 bytes of a digest of the subscription. */
import { timingSafeEqual } from 'node:crypto';
import type { App } from '../../kernel/app.ts';
import { digestOf, knownDigestOf } from '../../kernel/security/digests.ts';

interface Links<Named, Target> {
  /** Path of the page. */
  readonly path: string;
  /** Purpose of the digest. */
  readonly purpose: string;
  /** Finds the subscription by its uuid. */
  readonly find: (app: App, uuid: string) => Target | undefined;
  /** Returns the text to digest. */
  readonly digested: (named: Named) => string;
}

const textOf = (digest: Buffer): string => digest.toString('hex', 0, 16);

/** Links of one kind. `Named` is the content of a link, `Target` the subscription's row. */
export class UnsubscribeLinks<Named extends { readonly uuid: string }, Target extends Named> {
  readonly #links: Links<Named, Target>;

  constructor(links: Links<Named, Target>) {
    this.#links = links;
  }

  /** Returns the headers for one-click unsubscription (RFC 8058); none without base_url. */
  headers(app: App, named: Named): Readonly<Record<string, string>> {
    const { base_url: base } = app.config;
    if (base === null) return {};
    const { digested, path, purpose } = this.#links;
    return {
      'List-Unsubscribe': `<${base}${path}${named.uuid}${textOf(digestOf(app, purpose, digested(named)))}/>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    };
  }

  /** Returns the subscription of a link; undefined if the link is invalid. */
  targetOf(app: App, secret: string): Target | undefined {
    const [, uuid = '', digest = ''] = /^([0-9a-f]{32})([0-9a-f]{32})$/.exec(secret) ?? [];
    const { digested, find, purpose } = this.#links;
    const target = find(app, uuid);
    const known = target && knownDigestOf(app, purpose, digested(target));
    return known && timingSafeEqual(Buffer.from(digest), Buffer.from(textOf(known))) ? target : undefined;
  }
}
