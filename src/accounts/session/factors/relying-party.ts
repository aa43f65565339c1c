/** The relying party of passkeys: their domain, and the origins that may use them (core.md 2.11). */
import ipaddr from 'ipaddr.js';
import type { Request } from '../../../kernel/access/request.ts';
import type { Config, SettingName } from '../../../kernel/config/config.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { urlOf } from '../../../kernel/url.ts';

export interface RelyingParty {
  /** A domain. */
  readonly id: string;
  /** The origins of pages that may use its passkeys. */
  readonly origins: readonly string[];
}

const hostNameOf = (address: string): string => urlOf(address)?.hostname ?? '';

const isAtOrBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

/** Whether a host can own passkeys. Browsers reject IP addresses. */
const isDomain = (host: string): boolean => host !== '' && !host.startsWith('[') && !ipaddr.isValid(host);

/**
 * Returns the relying party of a request; undefined if the service has no domain. Without base_url, only localhost counts: any
 * other Host header would make passkeys of that host valid here.
 */
export function relyingPartyOf({ base, config }: Pick<Request, 'base' | 'config'>): RelyingParty | undefined {
  const { allowed_origins: allowed, base_url: own, passkey_rp_id: chosen } = config;
  const host = hostNameOf(own ?? base);
  if (own === null ? host !== 'localhost' : !isDomain(host)) return undefined;
  const id = chosen ?? host;
  const others = allowed.filter((origin) => !origin.includes('*') && isAtOrBelow(hostNameOf(origin), id));
  return { id, origins: [...new Set([new URL(own ?? base).origin, ...others])] };
}

/** Returns the relying party of a request. Throws 400 if the service has no domain. */
export function requireRelyingParty(request: Request): RelyingParty {
  const party = relyingPartyOf(request);
  if (party) return party;
  const detail =
    request.config.base_url === null
      ? 'Passkeys need the setting base_url unless the service is addressed as localhost.'
      : 'Passkeys need a domain name in the setting base_url.';
  throw new HttpError(400, { detail });
}

/** Rejects a passkey domain that browsers would not accept on pages of base_url. */
export function checkPasskeys(config: Config, reject: (name: SettingName, rule: string) => never): void {
  const { base_url: base, passkey_rp_id: id } = config;
  if (id === null) return;
  const isName = isDomain(id) && hostNameOf(`https://${id}`) === id;
  if (!isName || base === null || !isAtOrBelow(hostNameOf(base), id))
    reject('passkey_rp_id', 'must be the host of base_url or a domain above it, in lower case');
}
