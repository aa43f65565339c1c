import { readFileSync } from 'node:fs';
import { day } from '../../kernel/clock.ts';
import { type Config, ConfigError, type ConfigOf, type Settings } from '../../kernel/config/config.ts';
import { duration, remoteAddress, type Setting, text } from '../../kernel/config/setting.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { urlOf } from '../../kernel/url.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof auditSettings> {}
}

/** The URL of a server, with nothing after the port. */
const syslogServer = (help: string): Setting<string | null> => {
  const setting = remoteAddress(help, ['tcp:', 'tls:']);
  return {
    ...setting,
    read: (value) => {
      const address = setting.read(value);
      const url = address === null ? undefined : urlOf(address);
      if (url && (url.username || url.password || url.search || url.hash || !/^\/?$/.test(url.pathname)))
        throw new Error('must have only a host and a port');
      return address;
    },
  };
};

/** The audit trail settings. */
export const auditSettings = {
  audit_retention: duration(null, 'How long records of the audit trail are stored, at least 30d; default: for ever.', {
    min: 30 * day,
  }),
  audit_sink_url: remoteAddress('URL that receives the records of the audit trail, as NDJSON by POST.', [
    'http:',
    'https:',
  ]),
  audit_sink_header_file: text(
    null,
    'File with a line such as `Authorization: Bearer …`, a header of requests to audit_sink_url.',
  ),
  audit_file: text(null, 'File to which audit records are appended; reopened on SIGHUP.'),
  audit_syslog: syslogServer('Syslog server that receives the records: tcp://HOST:PORT or tls://HOST:PORT.'),
} satisfies Settings;

/** Headers that the server sets itself, in lower case. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'content-type', 'expect', 'host', 'idempotency-key', 'transfer-encoding'],
]);

/** Returns the header in a file. Throws a readable error that does not contain the value. */
export function readSinkHeader(file: string): Readonly<Record<string, string>> {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(plainReason(error), { cause: error });
  }
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]+)$/.exec(content) ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`${file} must have one line such as "Authorization: Bearer …"`);
  if (ownHeaders.has(name.toLowerCase())) throw new Error(`${file} must not set the header ${name}`);
  return { [name]: value };
}

/** Throws ConfigError if the sink settings conflict or name an unusable file. */
export function checkAuditSettings({ audit_sink_header_file: file, audit_sink_url: url }: Config): void {
  if (file === null) return;
  if (url === null) throw new ConfigError('audit_sink_header_file needs audit_sink_url');
  try {
    readSinkHeader(file);
  } catch (error) {
    throw new ConfigError(`audit_sink_header_file: ${errorOf(error).message}`, { cause: error });
  }
}
