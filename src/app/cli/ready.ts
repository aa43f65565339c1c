import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeInitialLink } from '../../accounts/session/initial-link.ts';
import { firstUser, initialPasswordFile } from '../../accounts/session/initial-password.ts';
import type { Config } from '../../kernel/config/config.ts';
import { version } from '../../kernel/version.ts';
import type { Server } from '../create-server.ts';
import { demoLogins, demoReport } from '../demo/demo.ts';
import type { Control } from '../fixture/control.ts';

interface Ready {
  readonly server: Server;
  readonly control: Control | undefined;
  readonly config: Config;
  readonly ephemeral: boolean;
  /** Whether it has been asked for the demonstration world. */
  readonly hasDemo: boolean;
}

/** Reports that a server listens: to a terminal in sentences, to a program in one line of JSON. */
export function tellReady(ready: Ready): void {
  const { config, control, ephemeral, hasDemo, server } = ready;
  const firstLogin = ephemeral ? undefined : firstLoginUrl(server, config);
  if (process.stdout.isTTY) {
    process.stdout.write(`Tenantry ${version} listens on ${server.url}\n`);
    process.stdout.write(
      ephemeral
        ? `Everything is kept in memory. A token of the staff user admin: ${server.token}\n`
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
  if (!ephemeral) tellInitialPassword(server, config, firstLogin, process);
}

/** Where something is told: a terminal to people, anything else to programs. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/**
 * A link that sets the name and password of the first user, as long as that has the initial password and the console is on.
 * It is a secret for 30 minutes, and works once. A new one ends an earlier one.
 */
export function firstLoginUrl(
  server: Pick<Server, 'app' | 'url'>,
  { base_url, console_enabled, data }: Pick<Config, 'base_url' | 'console_enabled' | 'data'>,
): string | undefined {
  if (!console_enabled || !existsSync(initialPasswordFile(resolve(data)))) return undefined;
  const secret = makeInitialLink(server.app);
  // All addresses of a machine are none that a browser can open.
  const here = server.url.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:');
  return secret && `${base_url ?? here}/#/first/${secret}`;
}

/**
 * As long as the first user has the initial password: reports in which file that is, and at a terminal the link to choose
 * another one. The link is never logged: logs are collected, and others read them.
 */
export function tellInitialPassword(
  server: Pick<Server, 'app'>,
  { data }: Pick<Config, 'data'>,
  firstLogin: string | undefined,
  outputs: { readonly stdout: Output; readonly stderr: Output },
): void {
  const passwordFile = initialPasswordFile(resolve(data));
  if (!existsSync(passwordFile)) return;
  const told = `The password of the staff user "${firstUser}" is in ${passwordFile}; change it, and the file goes away.`;
  const terminal = [outputs.stdout, outputs.stderr].find(({ isTTY }) => isTTY);
  if (firstLogin !== undefined)
    terminal?.write(`Choose your name and password here, once, within 30 minutes: ${firstLogin}\n`);
  // What is no terminal is read by programs, to which every line is JSON.
  if (outputs.stderr.isTTY) outputs.stderr.write(`${told}\n`);
  else server.app.log.warn({ file: passwordFile }, told);
}
