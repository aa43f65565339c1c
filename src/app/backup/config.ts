import { readFileSync } from 'node:fs';
import { type Config, ConfigError, type ConfigOf, type Settings } from '../../kernel/config/config.ts';
import { flag, oneOf, requiredText, type Setting, text } from '../../kernel/config/setting.ts';
import { errorOf, plainReason } from '../../kernel/present.ts';
import { urlOf } from '../../kernel/url.ts';
import { isRecipient } from './age.ts';
import { parseRetention } from './retention.ts';
import { parseSchedule } from './schedule.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof backupSettings> {}
}

/** A text setting with a parser that validates it by throwing a readable error. */
const parsed = <T extends string | null>(setting: Setting<T>, parse: (text: string) => unknown): Setting<T> => ({
  ...setting,
  read: (value) => {
    const result = setting.read(value);
    if (result !== null) parse(result);
    return result;
  },
});

/** The backup settings. */
export const backupSettings = {
  backup_before_upgrade: flag(
    true,
    'Back up the database to `backups` in its folder before a new version changes the schema. The last 3 of these backups are stored.',
  ),
  backup_schedule: parsed(
    text(
      null,
      'When the server makes backups, in UTC: HH:MM for every day, or the five fields of crontab. Default: never.',
    ),
    parseSchedule,
  ),
  backup_target: parsed(
    text(null, 'Target of scheduled backups: a folder, or s3://BUCKET/PREFIX. Default: `backups` in the data folder.'),
    (target) => isS3(target) && s3Location(target),
  ),
  backup_keep: parsed(
    requiredText(
      '7d,4w,6m',
      'Scheduled backups to retain: the newest of each day, week and month, for this number of days, weeks and months.',
    ),
    parseRetention,
  ),
  backup_recipients_file: text(
    null,
    'File with age public keys, one per line, for which scheduled backups are encrypted. Required with S3.',
  ),
  backup_identity_file: text(null, 'File with an age identity that decrypts scheduled backups for their verification.'),
  backup_verify: oneOf(
    ['weekly', 'daily', 'off'],
    'weekly',
    'How often a scheduled backup is fetched, restored and checked: weekly, daily or off.',
  ),
  backup_s3_endpoint: text(null, 'URL of an object store other than Amazon S3.'),
  backup_s3_region: requiredText('us-east-1', 'Region of the bucket.'),
  backup_s3_path_style: {
    ...flag(true, 'Whether the bucket is in the path instead of the host. Default: true with backup_s3_endpoint.'),
    fallback: null,
  },
  backup_s3_access_key_id: text(null, 'Access key of the bucket. Default: AWS_ACCESS_KEY_ID.'),
  backup_s3_secret_access_key_file: text(null, 'File with its secret. Default: AWS_SECRET_ACCESS_KEY.'),
} satisfies Settings;

export const isS3 = (target: string): boolean => target.startsWith('s3://');

/** Returns bucket and prefix of an S3 target; the prefix ends with a slash unless it is empty. Throws a readable error. */
export function s3Location(target: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(target) ?? [];
  if (bucket === undefined) throw new Error('must be s3://BUCKET/PREFIX');
  const prefix = path.replace(/\/+$/, '');
  if (prefix.split('/').some((segment) => ['.', '..'].includes(segment)))
    throw new Error('must be s3://BUCKET/PREFIX, without the segments . and ..');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Throws ConfigError if the backup settings conflict or name unusable files. */
export function checkBackupSettings(config: Config): void {
  const { backup_recipients_file: recipients, backup_s3_endpoint: endpoint, backup_target: target } = config;
  if (recipients !== null) recipientsIn(recipients);
  if (target === null || !isS3(target)) return;
  if (recipients === null)
    throw new ConfigError('backup_recipients_file is required: a backup contains the encryption keys.');
  if (endpoint !== null && !/^https?:$/.test(urlOf(endpoint)?.protocol ?? ''))
    throw new ConfigError('backup_s3_endpoint must be an http or https URL');
  credentialsOf(config);
}

/** Returns the age public keys in a file. Throws ConfigError with the line number. */
export function recipientsIn(file: string): string[] {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`backup_recipients_file: ${plainReason(error)}`, { cause: error });
  }
  const keys: string[] = [];
  for (const [i, line] of content.split('\n').entries()) {
    const key = line.trim();
    if (key === '' || key.startsWith('#')) continue;
    if (!isRecipient(key))
      throw new ConfigError(`backup_recipients_file: line ${i + 1} of ${file} is not an age public key (age1…)`);
    keys.push(key);
  }
  if (keys.length === 0) throw new ConfigError(`backup_recipients_file: ${file} has no key`);
  return keys;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Returns the credentials for the bucket in a setting. Each part comes from its setting or, without one, from the environment.
 * Throws ConfigError.
 */
export function credentialsOf(
  config: Config,
  setting = 'backup_target',
  env: NodeJS.ProcessEnv = process.env,
): Credentials {
  const { backup_s3_access_key_id: id, backup_s3_secret_access_key_file: file } = config;
  const accessKeyId = id ?? env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = file === null ? env.AWS_SECRET_ACCESS_KEY : secretIn(file);
  if (!accessKeyId || !secretAccessKey)
    throw new ConfigError(
      `${setting} needs credentials: set backup_s3_access_key_id and backup_s3_secret_access_key_file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  // A session token belongs to the other two variables.
  const { AWS_SESSION_TOKEN: sessionToken } = id === null && file === null ? env : {};
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

/** Returns the secret in a file. Throws ConfigError. */
function secretIn(file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`backup_s3_secret_access_key_file: ${errorOf(error).message}`, { cause: error });
  }
  if (secret === '') throw new ConfigError(`backup_s3_secret_access_key_file: ${file} is empty`);
  return secret;
}
