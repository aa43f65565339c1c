/*
 * The parts of the program file other than the main program, with the reasons. build.mjs also reads these lists.
 */

/** Packages that few servers use. Each is loaded by its first `import()`. */
export const lateModules = {
  nodemailer: 'mail that is sent',
  '@zxcvbn-ts/language-common': 'common passwords, with `password_refuse_weak`',
  'openid-client': 'logins by OpenID Connect',
  jose: 'signatures of OpenID Connect providers',
  aws4: 'signatures of calls of Amazon and of object stores',
  'age-encryption': 'encryption of backups',
  '@simplewebauthn/server': 'passkeys',
  otpauth: 'codes of authenticator apps',
  sax: 'XML of Amazon and of SAML metadata',
  'prom-client': 'metrics that are read',
  uqr: 'QR codes of secrets for authenticator apps',
} as const;

/** Programs of threads, by path below src. */
export const threads = {
  'kernel/durability/checkpoint-thread': 'moves the write-ahead log into the database',
  'kernel/durability/snapshot-thread': 'writes and reads backups',
  'kernel/threads/reader-thread': 'runs long reads',
  'accounts/session/saml/thread': 'reads SAML messages and metadata',
} as const;

export type LateModule = keyof typeof lateModules;
export type ThreadName = keyof typeof threads;
