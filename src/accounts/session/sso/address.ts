import ipaddr from 'ipaddr.js';
import type { Request } from '../../../kernel/access/request.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { hostOf } from '../../../kernel/url.ts';

/**
 * Returns the base URL of the service at identity providers: base_url or, without it, the request's if its host is this machine.
 * Any other Host header would make responses for that host valid here. Throws 400.
 */
export function serviceBase({ base, config }: Pick<Request, 'base' | 'config'>): string {
  if (config.base_url === null && !isLoopback(base)) {
    throw new HttpError(400, {
      detail: 'Single sign-on needs the setting base_url unless the service is addressed as localhost.',
    });
  }
  return base;
}

/** Whether the host of a URL is this machine. */
export function isLoopback(address: string): boolean {
  const host = hostOf(new URL(address));
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}
