/** The settings of the kernel; those of other modules are declared in their config.ts. */
import { day, minute, second } from '../clock.ts';
import { listenAddress } from './address.ts';
import { type Config, type ConfigOf, environmentName, type SettingName, type Settings } from './config.ts';
import {
  duration,
  encryptionKey,
  flag,
  integer,
  list,
  networks,
  oneOf,
  origin,
  remoteAddress,
  requiredText,
  secret,
  text,
  webAddress,
} from './setting.ts';

declare module './config.ts' {
  interface Config
    extends ConfigOf<typeof serverSettings>,
      ConfigOf<typeof originSettings>,
      ConfigOf<typeof requestSettings>,
      ConfigOf<typeof productSettings>,
      ConfigOf<typeof mailSettings>,
      ConfigOf<typeof encryptionSettings>,
      ConfigOf<typeof consoleSettings>,
      ConfigOf<typeof logSettings> {}
}

/** Settings of the listener, its limits and the data folder. */
export const serverSettings = {
  host: requiredText('127.0.0.1', 'Address to listen on.'),
  port: integer(8080, 'Port to listen on; 0 takes a free one.', 0, 65535),
  admin_listen: listenAddress(
    'Where the operator reads /healthz, /readyz and /metrics: a port of the loopback, a host with a port, or off. Default: 127.0.0.1:9480 if that is free; off in memory, as a library, and with port 0.',
  ),
  tls_cert_file: text(null, 'PEM certificate, with the chain below it, to speak https with; read anew on SIGHUP.'),
  tls_key_file: text(null, 'PEM key of that certificate; both are set, or neither.'),
  data: requiredText('data', 'Folder of the database, keys and uploads.'),
  base_url: webAddress(null, 'Start of every link in answers; default: scheme and host of the request.'),
  max_body_bytes: integer(1_048_576, 'Largest request body in bytes; larger ones are answered 413.', 1024),
  body_budget_bytes: integer(
    67_108_864,
    'Memory for bodies that are still arriving, in bytes; one user, or network without token, has at most half.',
    1_048_576,
  ),
  max_connections: integer(10_000, 'Connections at a time; further ones are closed at once.', 1),
  max_connections_per_address: integer(512, 'The same of one address, or /64 of IPv6; loopback and proxies aside.', 1),
  keep_alive_timeout: duration<number>(
    minute,
    'How long a connection may be idle between two requests; longer than a load balancer in front keeps it.',
    { min: second, max: day },
  ),
  memory_budget_bytes: integer(67_108_864, 'Memory for answers that are remembered, in bytes; 0 remembers none.', 0),
} satisfies Settings;

/** Settings of web pages that call the API. */
export const originSettings = {
  allowed_origins: list(
    [],
    'Origins whose web pages may call the API (CORS); `*` is any, or any port or first label, as in http://localhost:*. Default: none; in memory and with --demo any port of localhost, 127.0.0.1 and [::1].',
    origin,
  ),
} satisfies Settings;

/** Settings of how requests are read. */
export const requestSettings = {
  strict_input: flag(
    false,
    'Refuses parameters and fields that an operation does not have, and values outside of its vocabulary.',
  ),
  trusted_proxies: networks('Proxies whose X-Forwarded-* headers are believed.'),
} satisfies Settings;

/** Settings of the name of the service. */
export const productSettings = {
  product_name: requiredText('Tenantry', 'Name of the service in mails and requests it sends.'),
} satisfies Settings;

/** Settings of mail. */
export const mailSettings = {
  smtp_url: secret(
    remoteAddress(
      'Mail server: smtp:// (encrypted where it offers STARTTLS) or smtps://, [user:password@]host[:port]; default: mails are written to files in the folder mail of the data folder.',
      ['smtp:', 'smtps:'],
    ),
  ),
  email_from: text(null, 'Sender of mails; required with smtp_url.'),
} satisfies Settings;

/** Settings of the encryption of stored secrets. */
export const encryptionSettings = {
  encryption_keys: secret(
    list(
      [],
      'Keys that stored secrets are encrypted with, id:base64 of 32 bytes each; the first encrypts, all decrypt. Default: one is made in secret.key of the data folder.',
      encryptionKey,
    ),
  ),
} satisfies Settings;

/** Settings of what browsers get at the root. */
export const consoleSettings = {
  console_enabled: flag(true, 'Browsers get a console at /; off: the description of the API at /docs/.'),
} satisfies Settings;

/** Settings of the log and of unpacked files. */
export const logSettings = {
  log_file: text(null, 'File that the log is appended to, opened anew on SIGHUP; default: standard error.'),
  log_level: oneOf(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'How much is logged: debug, info, warn, error or silent.',
  ),
  native_cache: text(
    null,
    'Folder for the unpacked native modules, default: inside the data folder; given in the environment, also for compiled code, default: the temporary folder.',
  ),
} satisfies Settings;

/** Rejects a mail server without a sender, and half of a certificate. */
export function checkKernelSettings(config: Config, reject: (name: SettingName, rule: string) => never): void {
  const needs = (name: SettingName, other: SettingName): void => {
    if (config[other] && !config[name]) reject(name, `must be set with ${environmentName(other)}`);
  };
  needs('email_from', 'smtp_url');
  needs('tls_key_file', 'tls_cert_file');
  needs('tls_cert_file', 'tls_key_file');
}
