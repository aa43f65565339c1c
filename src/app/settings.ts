/** Every setting of the program. The command line, `--help`, the environment, the manual and the API use this table. */
import { apiKeySettings } from '../accounts/api-keys/config.ts';
import { invitationSettings } from '../accounts/invitations/config.ts';
import { roleSettings } from '../accounts/roles/config.ts';
import { serviceAccountSettings } from '../accounts/service-accounts/service-accounts.ts';
import { loginSettings, policySettings } from '../accounts/session/config.ts';
import { checkPasskeys } from '../accounts/session/factors/relying-party.ts';
import { checkSaml, samlSettings } from '../accounts/session/saml/config.ts';
import { checkOidc, checkSignOn, oidcSettings, signOnSettings } from '../accounts/session/sso/config.ts';
import { userSettings } from '../accounts/users/config.ts';
import { alertSettings } from '../activity/alerts/config.ts';
import { auditSettings } from '../activity/audit/config.ts';
import { eventSettings, eventStreamSettings } from '../activity/events/config.ts';
import { hookSettings, pushSettings } from '../activity/hooks/config.ts';
import { notificationSettings } from '../activity/notifications/config.ts';
import { quotaSettings } from '../activity/quotas/usage.ts';
import { providerSettings } from '../cloud/catalogue/config.ts';
import type { Config, ConfigOf, SettingName } from '../kernel/config/config.ts';
import { type ConfigFile, readSettingsFile } from '../kernel/config/file.ts';
import { findUnknownVariables, loadSettings, type Sources, sourceOfSetting } from '../kernel/config/load.ts';
import { printValue, type Setting } from '../kernel/config/setting.ts';
import {
  checkKernelSettings,
  consoleSettings,
  encryptionSettings,
  logSettings,
  mailSettings,
  originSettings,
  productSettings,
  requestSettings,
  serverSettings,
} from '../kernel/config/settings.ts';
import { namesOf } from '../kernel/present.ts';
import { backupSettings } from './backup/config.ts';
import { emptyCollectionSettings } from './empty-collections.ts';
import { replicationSettings } from './replication/config.ts';

const groups = {
  Server: serverSettings,
  API: { ...originSettings, ...emptyCollectionSettings, ...requestSettings },
  'Rights, users and passwords': { ...roleSettings, ...userSettings },
  'API keys': { ...apiKeySettings, ...serviceAccountSettings },
  Invitations: invitationSettings,
  'Login and single sign-on': {
    ...loginSettings,
    ...samlSettings,
    ...oidcSettings,
    ...signOnSettings,
    ...policySettings,
  },
  'Events, alerts and history': {
    ...productSettings,
    ...alertSettings,
    ...eventSettings,
    ...quotaSettings,
    ...eventStreamSettings,
  },
  'Audit trail': auditSettings,
  Notifications: notificationSettings,
  Hooks: hookSettings,
  'Mail and push notifications': { ...mailSettings, ...pushSettings },
  Encryption: encryptionSettings,
  Providers: providerSettings,
  Console: consoleSettings,
  'Backups and replication': { ...backupSettings, ...replicationSettings },
  'Log and files': logSettings,
} as const;

/** All declarations, in display order. */
export const settings = {
  ...groups.Server,
  ...groups.API,
  ...groups['Rights, users and passwords'],
  ...groups['API keys'],
  ...groups.Invitations,
  ...groups['Login and single sign-on'],
  ...groups['Events, alerts and history'],
  ...groups['Audit trail'],
  ...groups.Notifications,
  ...groups.Hooks,
  ...groups['Mail and push notifications'],
  ...groups.Encryption,
  ...groups.Providers,
  ...groups.Console,
  ...groups['Backups and replication'],
  ...groups['Log and files'],
} satisfies Record<SettingName, Setting<unknown>>;

/** Settings that a program passes: strings as on the command line, or parsed values. */
export type GivenSettings = {
  readonly [K in keyof typeof settings]?: string | ConfigOf<typeof settings>[K] | undefined;
};

/** The groups of settings, in the same order. */
export const settingGroups: readonly { readonly title: string; readonly names: readonly SettingName[] }[] =
  Object.entries(groups).map(([title, members]) => ({ title, names: namesOf(members) }));

export const settingNames: readonly SettingName[] = namesOf(settings);

/** Settings with credentials. They can be read from separate files and are never printed. */
export const secretSettings: ReadonlySet<SettingName> = new Set(
  settingNames.filter((name) => (settings[name] as Setting<unknown>).isSecret),
);

/** Reads all settings. Throws ConfigError. */
export const loadConfig = (sources: Omit<Sources, 'input'> & { readonly input?: GivenSettings } = {}): Config =>
  loadSettings(settings, [checkKernelSettings, checkSaml, checkOidc, checkPasskeys, checkSignOn], sources);

/** Returns the option, variable or line that sets a setting; undefined for a default. */
export const sourceOf = (name: SettingName, sources: Sources): string | undefined =>
  sourceOfSetting(settings, name, sources);

/** Reads the `name = value` lines of a file. Throws ConfigError with the line number. */
export const readConfigFile = (path: string): ConfigFile => readSettingsFile(settings, path);

/** Formats a value as on the command line, and credentials as stars. */
export const printSetting = (name: SettingName, value: unknown): string => printValue(settings[name], value);

/** Returns environment variables that look like settings, or files with secret settings, but are not. */
export const unknownVariables = (
  env: Readonly<Record<string, string | undefined>>,
): ReturnType<typeof findUnknownVariables> => findUnknownVariables(settings, env);

/** Defaults of a trial server, whose hooks may call receivers on this machine. */
const trialDefaults = { hooks_allowed_networks: ['127.0.0.0/8', '::1/128'] } satisfies Partial<Config>;

/** Returns the special defaults of a server in memory or with sample data, except for explicitly set settings. */
export const localDefaults = (isSet: (name: SettingName) => boolean): Partial<Config> =>
  isSet('hooks_allowed_networks') ? {} : trialDefaults;
