import ipaddr from 'ipaddr.js';
import type { Request } from '../../../kernel/access/request.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { hostOf } from '../../../kernel/net/destination.ts';

export const samlPath = '/api-auth/saml2/';

/** What identity providers know the service by. */
interface ServiceAddresses {
  /** Also the address of its metadata. */
  readonly entityId: string;
  /** Where responses to logins are posted to. */
  readonly assertionConsumer: string;
  /** Where messages about logouts go. */
  readonly logout: string;
}

/**
 * The addresses under the setting base_url. Without it those of the request, as long as it names this very machine: with a
 * foreign Host header the assertions made for that host would open accounts here. Throws 400.
 */
export function addressesOf({ base, config }: Pick<Request, 'base' | 'config'>): ServiceAddresses {
  if (config.base_url === null && !isLoopback(base)) {
    throw new HttpError(400, {
      detail: 'Single sign-on needs the setting base_url unless the service is addressed as localhost.',
    });
  }
  const start = `${base}${samlPath}`;
  return {
    entityId: `${start}metadata/`,
    assertionConsumer: `${start}login/complete/`,
    logout: `${start}logout/complete/`,
  };
}

function isLoopback(base: string): boolean {
  const host = hostOf(new URL(base));
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}
