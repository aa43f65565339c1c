import { addressOf, authorityOf, reachable, usualAdminAddress } from '../../kernel/config/address.ts';
import type { Config } from '../../kernel/config/config.ts';
import { codeOf, errorOf } from '../../kernel/present.ts';
import type { Arguments } from '../command-line.ts';
import type { Health } from './health.ts';

/** Milliseconds until an answer must be there. */
const patience = 5000;

/** `tenantry healthcheck`: says whether the server of these settings is ready. Rejects with a sentence when it is not. */
export async function checkHealth({ config }: Arguments): Promise<void> {
  const url = `http://${authorityOf(adminAddress(config))}/readyz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(patience) }).catch((error: unknown) => {
    // What went wrong stands in the cause of what fetch throws.
    const { cause } = errorOf(error);
    throw new Error(`${url} does not answer: ${String(codeOf(cause) ?? errorOf(error).message)}`, { cause: error });
  });
  const { checks }: Partial<Health> = await response.json().catch(() => ({}));
  if (response.status !== 200) {
    const wrong = Object.entries(checks ?? {}).filter(([, told]) => told !== 'ok');
    const reasons = wrong.map(([check, told]) => `${check}: ${told}`).join('; ');
    throw new Error(`not ready: ${reasons || `${url} answers ${response.status}`}`);
  }
  process.stdout.write('ready\n');
}

/** Where a server of these settings listens for its operator, called from this machine. Throws with a sentence. */
function adminAddress({ admin_listen: given }: Config): { host: string; port: number } {
  const address = given === null ? usualAdminAddress : addressOf(given);
  if (!address) throw new Error('admin_listen is off: nobody can ask the server');
  return { host: reachable(address.host), port: address.port };
}
