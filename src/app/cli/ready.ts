import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeInitialLink } from '../../accounts/session/initial-link.ts';
import { firstUser, initialPasswordFile } from '../../accounts/session/initial-password.ts';
import { version } from '../../kernel/app.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Server } from '../create-server.ts';
import { demoLogins, demoReport } from '../demo/demo.ts';
import type { Control } from '../fixture/control.ts';

interface ReadyServer {
  readonly server: Server;
  readonly control: Control | undefined;
  readonly config: Config;
  readonly ephemeral: boolean;
  /** Whether the server started with sample data. */
  readonly hasDemo: boolean;
}

/** Reports that a server is listening: as sentences at a terminal, otherwise as one line of JSON. */
export function reportReady(ready: ReadyServer): void {
  const { config, control, ephemeral, hasDemo, server } = ready;
  const firstLogin = ephemeral ? undefined : firstLoginUrl(server, config);
  if (process.stdout.isTTY) {
    process.stdout.write(`Tenantry ${version} listens on ${server.url}\n`);
    process.stdout.write(
      ephemeral
        ? `All data is in memory. A token of the staff user admin: ${server.token}\n`
        : `Data: ${resolve(config.data)}\n`,
    );
    if (control) process.stdout.write(`Control: ${control.url}, with the secret ${control.secret}\n`);
    if (hasDemo) process.stdout.write(demoReport(server.app));
  } else {
    const line = {
      event: 'listening',
      url: server.url,
      ...(server.adminUrl !== undefined && { admin: server.adminUrl }),
      ...(ephemeral && { token: server.token }),
      ...(control && { control: { url: control.url, secret: control.secret } }),
      ...(hasDemo && { demo: demoLogins() }),
      ...(firstLogin !== undefined && !process.stderr.isTTY && { first_login: firstLogin }),
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  if (!ephemeral) reportInitialPassword(server, config, firstLogin, process);
}

/** An output stream: people read a terminal, programs read anything else. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/**
 * Returns a link that sets the name and password of the first user. Undefined after the initial password was changed, or if the
 * console is off. The link is a secret, works once within 30 minutes, and invalidates earlier ones.
 */
export function firstLoginUrl(
  server: Pick<Server, 'app' | 'url'>,
  { base_url, console_enabled, data }: Pick<Config, 'base_url' | 'console_enabled' | 'data'>,
): string | undefined {
  if (!console_enabled || !existsSync(initialPasswordFile(resolve(data)))) return undefined;
  const secret = makeInitialLink(server.app);
  // A browser cannot open a wildcard address.
  const ownUrl = server.url.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:');
  return secret && `${base_url ?? ownUrl}/#/first/${secret}`;
}

/**
 * While the first user has the initial password, reports its file and, at a terminal, the link to choose another one. Never logs
 * the link, because more people can read logs than may log in.
 */
export function reportInitialPassword(
  server: Pick<Server, 'app'>,
  { data }: Pick<Config, 'data'>,
  firstLogin: string | undefined,
  outputs: { readonly stdout: Output; readonly stderr: Output },
): void {
  const passwordFile = initialPasswordFile(resolve(data));
  if (!existsSync(passwordFile)) return;
  const message = `The password of the staff user "${firstUser}" is in ${passwordFile}. The file is deleted when the password is changed.`;
  const terminal = [outputs.stdout, outputs.stderr].find(({ isTTY }) => isTTY);
  if (firstLogin !== undefined)
    terminal?.write(`Choose your name and password here, once, within 30 minutes: ${firstLogin}\n`);
  // Programs that read standard error expect JSON on every line.
  if (outputs.stderr.isTTY) outputs.stderr.write(`${message}\n`);
  else server.app.log.warn({ file: passwordFile }, message);
}
