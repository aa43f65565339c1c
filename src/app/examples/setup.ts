import { resolve } from 'node:path';
import { type Address, addressOf, authorityOf, reachable, usualAdminAddress } from '../../kernel/config/address.ts';
import type { Config } from '../../kernel/config/config.ts';

/** What examples are filled with: the settings in force, and where the program is. */
export interface Setup {
  readonly config: Config;
  /** The words that start the program. */
  readonly program: readonly string[];
  /** Absolute. */
  readonly data: string;
  /** Where a proxy on this machine reaches the API, with its scheme. */
  readonly upstream: string;
  /** The name by which clients call it. */
  readonly name: string;
  /** Where the operator reads metrics on this machine; undefined: nowhere. */
  readonly admin: Address | undefined;
}

/** The setup of settings; `program` is the file that runs. */
export function setupOf(config: Config, program: string): Setup {
  const { admin_listen: given, base_url, host, port, tls_cert_file } = config;
  const address = given === null ? usualAdminAddress : addressOf(given);
  return {
    config,
    program: [process.execPath, resolve(program)],
    data: resolve(config.data),
    upstream: `${tls_cert_file === null ? 'http' : 'https'}://${authorityOf({ host: reachable(host), port })}`,
    name: base_url === null ? 'api.example.com' : new URL(base_url).hostname,
    admin: address && { ...address, host: reachable(address.host) },
  };
}
