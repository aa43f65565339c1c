/** The settings of the kernel. Other modules declare theirs in their config.ts. */
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
  port: integer(8080, 'Port to listen on; 0 selects a free one.', 0, 65535),
  admin_listen: listenAddress(
    'Listener of /healthz, /readyz and /metrics for the operator: a port of the loopback interface, a host with a port, or off. Default: 127.0.0.1:9480 if it is free; off in memory, as a library, and with port 0.',
  ),
  tls_cert_file: text(null, 'PEM certificate for HTTPS, followed by its chain; reloaded on SIGHUP.'),
  tls_key_file: text(null, 'PEM key of that certificate; set both or neither.'),
  data: requiredText('data', 'Folder of the database, keys and uploads.'),
  base_url: webAddress(null, 'Base URL of links in responses; default: scheme and host of the request.'),
  max_body_bytes: integer(1_048_576, 'Maximum size of a request body in bytes; larger ones get 413.', 1024),
  body_budget_bytes: integer(
    67_108_864,
    'Memory for incoming request bodies, in bytes. A user, or a network without a token, can use at most half of it.',
    1_048_576,
  ),
  max_connections: integer(10_000, 'Maximum number of open connections; further ones are closed immediately.', 1),
  max_connections_per_address: integer(
    512,
    'Maximum number of open connections of an address, or of an IPv6 /64; not for loopback and proxies.',
    1,
  ),
  keep_alive_timeout: duration<number>(
    minute,
    'Idle timeout of connections; set it longer than that of a load balancer in front.',
    { min: second, max: day },
  ),
  memory_budget_bytes: integer(67_108_864, 'Memory of the response cache, in bytes; 0 turns it off.', 0),
} satisfies Settings;

/** Settings for web pages that call the API. */
export const originSettings = {
  allowed_origins: list(
    [],
    'Origins whose web pages may call the API (CORS). `*` allows any origin, or any port or first label, as in http://localhost:*. Default: none; in memory and with --demo, any port of localhost, 127.0.0.1 and [::1].',
    origin,
  ),
} satisfies Settings;

/** Settings for checking requests. */
export const requestSettings = {
  strict_input: flag(false, 'Whether to reject parameters, fields and values that an operation does not know.'),
  trusted_proxies: networks('Proxies whose X-Forwarded-* headers are trusted.'),
} satisfies Settings;

/** Settings of the name of the service. */
export const productSettings = {
  product_name: requiredText('Tenantry', 'Name of the service in mails and outgoing requests.'),
} satisfies Settings;

/** Settings of mail. */
export const mailSettings = {
  smtp_url: secret(
    remoteAddress(
      'Mail server: smtp:// (encrypted if it offers STARTTLS) or smtps://, [user:password@]host[:port]. Default: mails are written to files in the folder mail of the data folder.',
      ['smtp:', 'smtps:'],
    ),
  ),
  email_from: text(null, 'Sender of mails; required with smtp_url.'),
} satisfies Settings;

/** Settings for the encryption of stored secrets. */
export const encryptionSettings = {
  encryption_keys: secret(
    list(
      [],
      'Keys that encrypt stored secrets, each as id:base64 of 32 bytes; the first encrypts, all decrypt. Default: a key is generated in secret.key of the data folder.',
      encryptionKey,
    ),
  ),
} satisfies Settings;

/** Settings of the root for browsers. */
export const consoleSettings = {
  console_enabled: flag(
    true,
    'Whether browsers get the console at /; otherwise the documentation of the API at /docs/.',
  ),
} satisfies Settings;

/** Settings of the log and of unpacked files. */
export const logSettings = {
  log_file: text(null, 'Log file, reopened on SIGHUP; default: standard error.'),
  log_level: oneOf(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'Minimum level of log entries: debug, info, warn, error or silent.',
  ),
  native_cache: text(
    null,
    'Folder for unpacked native modules; default: inside the data folder. In the environment, also for compiled code; default: the temporary folder.',
  ),
} satisfies Settings;

/** Rejects a mail server without a sender, and a certificate without its key or a key without its certificate. */
export function checkKernelSettings(config: Config, reject: (name: SettingName, rule: string) => never): void {
  const needs = (name: SettingName, other: SettingName): void => {
    if (config[other] && !config[name]) reject(name, `must be set with ${environmentName(other)}`);
  };
  needs('email_from', 'smtp_url');
  needs('tls_key_file', 'tls_cert_file');
  needs('tls_cert_file', 'tls_key_file');
}
