import { resolve } from 'node:path';
import { type Address, addressOf, authorityOf, reachable, usualAdminAddress } from '../../kernel/config/address.ts';
import type { Config } from '../../kernel/config/config.ts';

/** The values to fill into the examples. */
export interface Setup {
  readonly config: Config;
  /** The command that starts the program. */
  readonly program: readonly string[];
  /** Absolute path. */
  readonly data: string;
  /** URL at which a proxy on this machine reaches the API. */
  readonly upstream: string;
  /** Host name for clients. */
  readonly name: string;
  /** Address of the operator's port on this machine; undefined if it is off. */
  readonly admin: Address | undefined;
}

/** Derives the values from settings. `program` is the path of the script. */
export function setupOf(config: Config, program: string): Setup {
  const { admin_listen, base_url, host, port, tls_cert_file } = config;
  const address = admin_listen === null ? usualAdminAddress : addressOf(admin_listen);
  return {
    config,
    program: [process.execPath, resolve(program)],
    data: resolve(config.data),
    upstream: `${tls_cert_file === null ? 'http' : 'https'}://${authorityOf({ host: reachable(host), port })}`,
    name: base_url === null ? 'api.example.com' : new URL(base_url).hostname,
    admin: address && { ...address, host: reachable(address.host) },
  };
}
