import { namesOf } from '../../kernel/present.ts';
import type { Level } from '../events/catalogue.ts';
import { type ContextKeys, contexts } from '../events/context.ts';

/** Languages of notification mails, which are the values of `preferred_language`. */
export const languages = ['en', 'et'] as const;
export type Language = (typeof languages)[number];

/** A text in every mail language. `{key}` stands for a context value, `{detail}` for the separate detail. */
export type Translations = Readonly<Record<Language, string>>;

interface Kind {
  /** Undefined if each notification has its own. */
  readonly level: Level | undefined;
  /** A short title, used as the subject of mails. */
  readonly title: Translations;
  /** A part in [brackets] is omitted if its value is empty. */
  readonly message: Translations;
  readonly context: ContextKeys;
  /** Whether only staff receive it. */
  readonly isForStaff?: boolean;
  /** Whether it is never sent to web hooks. */
  readonly isMailOnly?: boolean;
}

/** Returns the context keys of a kind: those of its objects, and specific ones. */
const about = (objects: ContextKeys, ...own: readonly string[]): ContextKeys => ({
  required: [...objects.required, ...own],
  // Notifications have no actor and no client address.
  optional: objects.optional.filter((key) => key !== 'ip_address'),
});

/** Every kind of notification (events.md 8.1). */
export const notificationKinds = {
  alert_opened: {
    level: undefined,
    title: { en: 'Alert', et: 'Häire' },
    message: { en: '{detail}', et: '{detail}' },
    context: about(contexts.anyObject, 'alert_uuid', 'alert_type', 'severity'),
  },
  alert_closed: {
    level: 'info',
    title: { en: 'Alert closed', et: 'Häire on lõppenud' },
    message: { en: 'Closed: {detail}', et: 'Lõppenud: {detail}' },
    context: about(contexts.anyObject, 'alert_uuid', 'alert_type', 'severity'),
  },
  quota_nearly_used: {
    level: 'warning',
    title: { en: 'Quota nearly used up', et: 'Kvoot on peaaegu täis' },
    message: {
      en: 'The quota {quota_name}[ of {detail}] is {percent}% used ({quota_usage} of {quota_limit}).',
      et: 'Kvoot {quota_name}[ ({detail})] on {percent} % ulatuses kasutatud ({quota_usage} / {quota_limit}).',
    },
    context: about(contexts.anyObject, 'quota_uuid', 'quota_name', 'quota_limit', 'quota_usage', 'percent'),
  },
  role_expiring: {
    level: 'warning',
    title: { en: 'A role expires soon', et: 'Roll lõpeb peagi' },
    message: {
      en: 'The role {role_name} of {affected_user_username} in {structure_type} {detail} expires on {expiration_time}.',
      et: 'Kasutaja {affected_user_username} roll {role_name} ({detail}) lõpeb {expiration_time}.',
    },
    context: about(contexts.role, 'expiration_time'),
  },
  api_key_expiring: {
    level: 'warning',
    title: { en: 'An API key expires soon', et: 'API võti aegub peagi' },
    message: { en: 'The API key {api_key_name} expires on {expires}.', et: 'API võti {api_key_name} aegub {expires}.' },
    context: { required: ['api_key_uuid', 'api_key_name', 'expires'], optional: [] },
  },
  provider_account_failed: {
    level: 'error',
    title: { en: 'A provider account fails', et: 'Pakkujakonto ei tööta' },
    message: {
      en: 'The provider account {settings_name} fails: {error_message}',
      et: 'Pakkujakonto {settings_name} ei tööta: {error_message}',
    },
    context: about(contexts.settings, 'error_message'),
  },
  provider_account_recovered: {
    level: 'info',
    title: { en: 'A provider account works again', et: 'Pakkujakonto töötab jälle' },
    message: {
      en: 'The provider account {settings_name} works again.',
      et: 'Pakkujakonto {settings_name} töötab jälle.',
    },
    context: about(contexts.settings),
  },
  resource_failed: {
    level: 'error',
    title: { en: 'A resource has failed', et: 'Ressursi viga' },
    message: { en: '{resource_full_name} has failed: {error_message}', et: '{resource_full_name}: {error_message}' },
    context: about(contexts.failedResource),
  },
  hook_disabled: {
    level: 'warning',
    title: { en: 'A hook was disabled', et: 'Teavitus lülitati välja' },
    message: { en: '{reason}', et: 'Teavitus lülitati välja: {reason}' },
    context: { required: ['hook_uuid', 'reason'], optional: [] },
    isMailOnly: true,
  },
  invitation_expired: {
    level: 'info',
    title: { en: 'An invitation has expired', et: 'Kutse on aegunud' },
    message: { en: 'The invitation of {detail} has expired.', et: 'Kutse aadressile {detail} on aegunud.' },
    context: about(contexts.place, 'invitation_uuid'),
  },
  backup_failed: {
    level: 'error',
    title: { en: 'A backup has failed', et: 'Varundamine ebaõnnestus' },
    message: { en: 'A backup has failed: {error_message}', et: 'Varundamine ebaõnnestus: {error_message}' },
    context: { required: ['error_message'], optional: [] },
    isForStaff: true,
  },
  backup_overdue: {
    level: 'error',
    title: { en: 'The last backup is too old', et: 'Viimane varukoopia on liiga vana' },
    message: {
      en: 'Last complete backup: {last_backup}. Last verified backup: {last_verified_backup}.',
      et: 'Viimane terviklik varukoopia: {last_backup}. Viimane kontrollitud varukoopia: {last_verified_backup}.',
    },
    context: { required: ['last_backup', 'last_verified_backup'], optional: [] },
    isForStaff: true,
  },
  disk_low: {
    level: 'error',
    title: { en: 'The disk is nearly full', et: 'Ketas on peaaegu täis' },
    message: {
      en: 'The disk with the data folder has {free_bytes} left.',
      et: 'Andmekausta kettal on vaba {free_bytes}.',
    },
    context: { required: ['free_bytes'], optional: [] },
    isForStaff: true,
  },
  audit_sink_behind: {
    level: 'error',
    title: { en: 'A sink of the audit trail is behind', et: 'Auditilogi vastuvõtja on maas' },
    message: {
      en: 'The audit sink {sink} is 15 minutes behind. Records that it has not received: {records}.',
      et: 'Auditilogi vastuvõtja {sink} on 15 minutit maas. Saatmata kirjeid: {records}.',
    },
    context: { required: ['sink', 'records'], optional: [] },
    isForStaff: true,
  },
  certificate_expiring: {
    level: 'warning',
    title: { en: 'The certificate expires soon', et: 'Sertifikaat aegub peagi' },
    message: {
      en: 'The TLS certificate of the server expires on {expires}.',
      et: 'Serveri TLS-sertifikaat aegub {expires}.',
    },
    context: { required: ['expires'], optional: [] },
    isForStaff: true,
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type NotificationKind = keyof typeof notificationKinds;

/** Every kind, sorted. */
export const kindNames: readonly NotificationKind[] = namesOf(notificationKinds).sort();

/** Returns the declaration of a kind. */
export const kindOf = (kind: NotificationKind): Kind => notificationKinds[kind];

/** The kinds that web hooks can receive. */
export const hookKinds: readonly NotificationKind[] = kindNames.filter((kind) => !kindOf(kind).isMailOnly);

/** When a user receives the mail about a kind. */
export const preferences = ['none', 'immediate', 'daily'] as const;
export type Preference = (typeof preferences)[number];

/** Returns the default preference. A daily mail about an expiry might come too late. */
export const defaultPreference = (kind: NotificationKind, level = kindOf(kind).level): Preference =>
  level === 'error' || kind === 'hook_disabled' || kind.endsWith('_expiring') ? 'immediate' : 'daily';
