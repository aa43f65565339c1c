import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { firstUser, initialPasswordFile } from '../accounts/session/initial-password.ts';
import type { Config } from '../kernel/config/config.ts';
import { version } from '../kernel/version.ts';
import { demoReport } from './demo/demo.ts';
import type { Control } from './fixture/control.ts';
import type { Server } from './server.ts';

interface Ready {
  readonly server: Server;
  readonly control: Control | undefined;
  readonly config: Config;
  readonly ephemeral: boolean;
  /** Whether it has been asked for the demonstration world. */
  readonly hasDemo: boolean;
}

/** Says that a server listens: to a terminal in sentences, to a program in one line of JSON. */
export function tellReady(ready: Ready): void {
  const { config, control, ephemeral, hasDemo, server } = ready;
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
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  const passwordFile = initialPasswordFile(resolve(config.data));
  if (ephemeral || !existsSync(passwordFile)) return;
  const told = `The password of the staff user "${firstUser}" is in ${passwordFile}; change it, and the file goes away.`;
  // What is no terminal is read by programs, to which every line is JSON.
  if (process.stderr.isTTY) process.stderr.write(`${told}\n`);
  else server.app.log.warn({ file: passwordFile }, told);
}
