import { type SettingName, settingNames } from './config.ts';

/** The first setting of each group; a group goes on to the next one. */
const starts = [
  ['host', 'Server'],
  ['allowed_origins', 'API'],
  ['owners_can_manage_customers', 'Rights, users and passwords'],
  ['link_template_hosts', 'Invitations'],
  ['authentication_methods', 'Login and single sign-on'],
  ['product_name', 'Events, alerts and history'],
  ['hook_delivery_retention', 'Hooks'],
  ['smtp_url', 'Mail and push notifications'],
  ['encryption_keys', 'Encryption'],
  ['only_staff_manages_services', 'Providers'],
  ['console_enabled', 'Console'],
  ['backup_before_upgrade', 'Backups and replication'],
  ['log_file', 'Log and files'],
] as const satisfies readonly (readonly [SettingName, string])[];

/** The settings in groups, in the order of their table. */
export const settingGroups: readonly { readonly title: string; readonly names: readonly SettingName[] }[] = starts.map(
  ([first, title], at) => {
    const next = starts[at + 1]?.[0];
    const end = next === undefined ? settingNames.length : settingNames.indexOf(next);
    return { title, names: settingNames.slice(settingNames.indexOf(first), end) };
  },
);
