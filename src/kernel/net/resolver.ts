/** Addresses of host names. See src/decisions/silent-name-servers.md. */
import { type LookupAddress, lookup, Resolver as NameServers } from 'node:dns';

declare module '../app.ts' {
  interface App {
    /** Resolves hosts that the operator did not choose. */
    readonly resolve: Resolver;
  }
}

/** Resolves all addresses of a host name. */
export type Resolver = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** Whether the name servers respond about a name, even if it does not exist. */
type Probe = (hostname: string, callback: (isResponsive: boolean) => void) => void;

/** In milliseconds. */
const probeTimeoutMs = 2500;
/** Milliseconds after which callers give up. */
const lookupTimeoutMs = 10_000;

const queryNameServers: Probe = (hostname, callback) => {
  // A single label is a local name.
  if (!hostname.includes('.')) return callback(true);
  const servers = new NameServers({ timeout: probeTimeoutMs, tries: 1 });
  let isResponsive = true;
  let open = 2;
  const note = (error: NodeJS.ErrnoException | null): void => {
    isResponsive &&= error?.code !== 'ETIMEOUT';
    if (--open === 0) callback(isResponsive);
  };
  servers.resolve4(hostname, note);
  servers.resolve6(hostname, note);
};

/**
 * Looks up names so that none waits for a name with unresponsive servers. The system resolver runs two lookups at a time, which
 * cannot be cancelled. So a probe, which blocks nothing, detects unresponsive names, and these wait only for each other.
 */
export function fairResolver(look: Resolver, probe: Probe): Resolver {
  const waiting: { readonly since: number; readonly begin: () => void; readonly giveUp: () => void }[] = [];
  let isBusy = false;
  const next = (): void => {
    for (let first = waiting.shift(); first; first = waiting.shift()) {
      if (performance.now() - first.since < lookupTimeoutMs) {
        first.begin();
        return;
      }
      first.giveUp();
    }
    isBusy = false;
  };
  const line = (hostname: string, callback: Parameters<Resolver>[1]): void => {
    const begin = (): void =>
      look(hostname, (error, addresses) => {
        next();
        callback(error, addresses);
      });
    waiting.push({
      since: performance.now(),
      begin,
      giveUp: () => callback(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' }), []),
    });
    if (isBusy) return;
    isBusy = true;
    next();
  };
  return (hostname, callback) => probe(hostname, (isResponsive) => (isResponsive ? look : line)(hostname, callback));
}

const lookUp = fairResolver((hostname, callback) => lookup(hostname, { all: true }, callback), queryNameServers);

/** Resolves names as other programs on this machine do. Names below `.invalid` fail immediately (RFC 6761, 6.4). */
export const systemResolver: Resolver = (hostname, callback) => {
  if (!/(^|\.)invalid\.?$/i.test(hostname)) return lookUp(hostname, callback);
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
  process.nextTick(callback, error, []);
};
