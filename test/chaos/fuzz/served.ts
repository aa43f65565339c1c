/** Serves a folder with the built program for a fuzzer. Its clients are behind a proxy, and host names do not resolve. */

import { pathToFileURL } from 'node:url';
import type { createServer } from 'tenantry';

const [bundle = '', data = ''] = process.argv.slice(2);
const program: { readonly createServer: typeof createServer } = await import(pathToFileURL(bundle).href);

/** The password of the sample data. */
const staff = 'helena.kask';

const server = await program.createServer({
  data,
  port: 0,
  log_level: 'error',
  trusted_proxies: ['127.0.0.1'],
  resolve: (hostname, callback) => callback(new Error(`${hostname} has no address here`), []),
});
process.on('disconnect', () => void server.close().then(() => process.exit()));
process.send?.({ url: server.url, token: server.issueToken(staff) });
