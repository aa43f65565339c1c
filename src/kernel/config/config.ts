import { day, minute, second } from '../clock.ts';
import { namesOf } from '../names.ts';
import { withoutCredentials } from '../url.ts';
import { listenAddress } from './address.ts';
import { attributeMapping, metadataUrls, redirectAddress } from './saml.ts';
import {
  collectionName,
  duration,
  encryptionKey,
  flag,
  hostName,
  integer,
  list,
  networks,
  oneOf,
  optionalInteger,
  origin,
  ports,
  remoteAddress,
  requiredText,
  type Setting,
  serverAddress,
  text,
  webAddress,
} from './setting.ts';

declare module '../app.ts' {
  interface App {
    readonly config: Config;
  }
}

/** The ways to log in. */
export const authenticationMethods = ['LOCAL_SIGNIN', 'SAML2'] as const;
export type AuthenticationMethod = (typeof authenticationMethods)[number];

/**
 * Every setting, once: `tenantry config`, `--help`, the table of the manual, the environment and the command line are all
 * read from `settings`. A setting `some_name` is `TENANTRY_SOME_NAME` in the environment and `--some-name` on the
 * command line.
 * Order is the order of every print of it.
 */
export const settings = {
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
  allowed_origins: list(
    [],
    'Origins whose web pages may call the API (CORS); `*` is any, or any port or first label, as in http://localhost:*. Default: none; in memory and with --demo any port of localhost, 127.0.0.1 and [::1].',
    origin,
  ),
  empty_collections: list(
    [
      'project-types',
      'invoices',
      'openstack-packages',
      'price-estimates',
      'merged-price-list-items',
      'support-issues',
      'support-users',
      'support-offerings',
      'expert-requests',
      'expert-providers',
      'ansible-playbooks',
      'applications',
    ],
    'Collections that clients ask for and that are not there: they are shown as empty lists.',
    collectionName,
  ),
  strict_input: flag(
    false,
    'Refuses parameters and fields that an operation does not have, and values outside of its vocabulary.',
  ),
  trusted_proxies: networks('Proxies whose X-Forwarded-* headers are believed.'),
  owners_can_manage_customers: flag(false, 'Owners may change and delete their own customers.'),
  owners_can_manage_owners: flag(false, 'Owners may grant and revoke roles in their own customers.'),
  managers_can_manage_admins: flag(
    false,
    'Project managers may grant, change and revoke the role of administrator in their own projects.',
  ),
  user_competences: list([], "Choices of a user's competence."),
  password_min_length: integer(7, 'Least number of characters of a new password.', 7, 1000),
  password_refuse_weak: flag(false, 'Refuses new passwords that hold the username or are on a list of common ones.'),
  password_requires_current: flag(false, 'A change of the own password or email needs the present password.'),
  token_lifetime_max: optionalInteger(
    'Longest token lifetime in seconds that users other than staff may choose; default: any.',
    60,
  ),
  users_visible: oneOf(
    ['all', 'connected'],
    'all',
    'Whom users see: all, or connected: people of their own customers and projects, others by the exact name only.',
  ),
  native_name_enabled: flag(false, 'Tells web clients to show native names.'),
  link_template_hosts: list(
    [],
    'Hosts that the links in invitations may name, with a port only that one; default: those of base_url, login_completed_url and allowed_origins, where any of these is set, else any.',
    hostName,
  ),
  invitation_mail_limit: integer(100, 'Invitation mails that a user other than staff may cause in an hour.'),
  invitation_lifetime: duration<number>(7 * day, 'How long an invitation can be accepted.'),
  invitation_accept_by_uuid: flag(
    true,
    'The uuid of an invitation, which those who may invite see, accepts it like the secret in its mail.',
  ),
  invitation_signup: flag(
    true,
    'Whoever has the mail of an invitation and no account makes one by accepting it; needs LOCAL_SIGNIN.',
  ),
  validate_invitation_email: flag(
    false,
    'An invitation is accepted only by a user whose verified email is that of the invitation.',
  ),
  authentication_methods: list(['LOCAL_SIGNIN'], `Ways to log in: ${authenticationMethods.join(', ')}.`, (item) => {
    if (!authenticationMethods.some((method) => method === item))
      throw new Error(`must list ${authenticationMethods.join(' or ')}, but has "${item}"`);
  }),
  password_reset_url: redirectAddress(
    'Page that sets another password, in mails to those who forgot theirs; holds {secret}. Default: no such mails.',
    ['secret'],
  ),
  saml_cert_file: text(null, 'PEM certificate that identity providers know the service by; required with SAML2.'),
  saml_key_file: text(
    null,
    'PEM key of that certificate, RSA; signs requests and decrypts assertions. Required with SAML2.',
  ),
  saml_idp_metadata_files: list([], 'Metadata files of identity providers.'),
  saml_idp_metadata_urls: metadataUrls(
    'Metadata of identity providers on the web: of each its URL, a vertical bar, and the file of the PEM certificate that signs it.',
  ),
  saml_attribute_mapping: attributeMapping(
    'Fields of users that attributes of identity providers fill, JSON such as {"mail": ["email"]}; one must fill username. Required with SAML2.',
  ),
  saml_create_unknown_user: flag(true, 'A SAML login creates the user it does not find.'),
  saml_link_existing_users: flag(false, 'A SAML login may enter accounts that it did not create.'),
  saml_enable_single_logout: flag(false, 'Tells web clients to log out at the identity provider, too.'),
  saml_allow_to_select_identity_provider: flag(true, 'Tells web clients to let users choose their identity provider.'),
  saml_identity_provider_url: text(
    null,
    'Entity id of the identity provider that web clients use where users do not choose.',
  ),
  saml_identity_provider_label: text(null, 'Name of that identity provider in web clients.'),
  login_completed_url: redirectAddress('Where a SAML login ends; holds {token} and {method}. Required with SAML2.', [
    'token',
    'method',
  ]),
  login_failed_url: redirectAddress('Where a failed SAML login ends; gets the parameter message. Required with SAML2.'),
  logout_completed_url: redirectAddress('Where a SAML logout ends. Required with SAML2.'),
  logout_failed_url: redirectAddress(
    'Where a failed SAML logout ends; gets the parameter message. Required with SAML2.',
  ),
  policy_url: redirectAddress(
    'Page with the policy that users agree with; default: none, and the console does not ask for it.',
  ),
  product_name: requiredText('Tenantry', 'Name of the service in mails and requests it sends.'),
  advisory_alerts: flag(false, 'Raises alerts about customers without projects, services or resources.'),
  closed_alerts_lifetime: duration<number>(7 * day, 'How long closed alerts are kept.'),
  events_retention: duration<null>(null, 'How long events are kept; default: for ever.'),
  failed_login_events_retention: duration<number>(90 * day, 'How long events of failed logins are kept.'),
  quota_history_retention: duration<null>(null, 'How long the history of quotas is kept; default: for ever.'),
  event_stream_heartbeat: duration<number>(15 * second, 'Time between two heartbeats of a stream of events.'),
  event_streams_per_user: integer(5, 'Streams of events that a user may have open at a time.'),
  max_event_streams: integer(1000, 'Streams of events that are open at a time.'),
  hook_delivery_retention: duration<number>(30 * day, 'How long finished deliveries of hooks are kept.'),
  hooks_per_user: integer(50, 'Hooks of every kind that a user other than staff may have.'),
  email_hook_confirmation_url: redirectAddress(
    'Page that asks whether an address wants the mails of a hook; holds {secret}. Default: one of this server, where base_url is set.',
    ['secret'],
  ),
  hook_mail_limit: integer(
    200,
    'Mails that the hooks of a user send in an hour; events beyond are told in one mail at its end.',
  ),
  hooks_allowed_networks: networks(
    'Private and local networks that hooks may send to all the same; default: none, in memory and with --demo the loopback.',
  ),
  hooks_allowed_ports: ports('Ports below 1024, besides 80 and 443, that hooks may send to.'),
  smtp_url: remoteAddress(
    'Mail server: smtp:// (encrypted where it offers STARTTLS) or smtps://, [user:password@]host[:port]; default: mails are written to files in the folder mail of the data folder.',
    ['smtp:', 'smtps:'],
  ),
  email_from: text(null, 'Sender of mails; required with smtp_url.'),
  push_gateway_url: remoteAddress(
    'Where push notifications are posted to; default: with a service account, that of Firebase.',
    ['http:', 'https:'],
  ),
  push_server_key_android: text(null, 'Server key for Android devices at the push gateway.'),
  push_server_key_ios: text(null, 'Server key for iOS devices at the push gateway.'),
  push_service_account: text(null, 'JSON key file of a service account; used instead of server keys.'),
  push_title: text(null, 'Title of push notifications; default: the product name and "notification".'),
  encryption_keys: list(
    [],
    'Keys that stored secrets are encrypted with, id:base64 of 32 bytes each; the first encrypts, all decrypt. Default: one is made in secret.key of the data folder.',
    encryptionKey,
  ),
  only_staff_manages_services: flag(false, 'Only staff write settings, services and links.'),
  manager_can_manage_tenants: flag(
    false,
    'Project managers and administrators may delete private clouds on shared settings.',
  ),
  tenant_credentials_visible: flag(
    false,
    'Shows the user and password of private clouds to those who may change them.',
  ),
  simulator_enabled: flag(true, 'Settings without a backend_url are simulated; off: they are at the public vendor.'),
  provider_allowed_networks: networks('Networks that providers may be called in although they are refused otherwise.'),
  settings_sync_interval: duration<number>(30 * minute, 'Time between two synchronisations with a provider.'),
  job_tick: duration<number>(second, 'Period of the worker that runs provider operations.'),
  job_delay: duration<number>(second, 'Time between a request and the provider operation it caused.'),
  console_enabled: flag(true, 'Browsers get a console at /; off: the description of the API at /docs/.'),
  backup_before_upgrade: flag(
    true,
    'Before a new version changes the schema, the database is backed up into `backups` in its folder; the last 3 are kept.',
  ),
  replicated: flag(
    false,
    'Another program, such as Litestream, copies the database all the time: it is left to that program to move the write-ahead log, and writes are answered with the version that followers wait for.',
  ),
  follow_interval: duration<number>(2 * second, 'Time between two copies that a follower makes.'),
  litestream_program: requiredText('litestream', 'Litestream, with which a follower restores from a replica.'),
  peers: list(
    [],
    'URLs of the servers that may be promoted in the place of this one, or that this one was promoted in the place of: as soon as one has a higher epoch, this one takes no changes.',
    serverAddress,
  ),
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
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
export type Config = {
  readonly [K in SettingName]: ReturnType<(typeof settings)[K]['read']> | (typeof settings)[K]['fallback'];
};

/** Settings as a program gives them: texts as on the command line, or what these are read as. */
export type GivenSettings = { readonly [K in SettingName]?: string | Config[K] | undefined };

/** A setting that cannot be read; `message` names the setting and the rule. */
export class ConfigError extends Error {
  /** What was given may stand in the message, but for the credentials in URLs. */
  constructor(message: string, options?: ErrorOptions) {
    super(withoutCredentials(message), options);
  }
}

export const settingNames: readonly SettingName[] = namesOf(settings);

export const environmentName = (name: SettingName): string => `TENANTRY_${name.toUpperCase()}`;
export const optionName = (name: SettingName): string => `--${name.replaceAll('_', '-')}`;

/** Settings that hold credentials: they may stand in files of their own, and are not printed. */
export const secretSettings: ReadonlySet<SettingName> = new Set([
  'smtp_url',
  'push_server_key_android',
  'push_server_key_ios',
  'encryption_keys',
]);
