import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { flag } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof roleSettings> {}
}

/** Settings for the rights of owners and managers. */
export const roleSettings = {
  owners_can_manage_customers: flag(false, 'Owners may change and delete their own customers.'),
  owners_can_manage_owners: flag(false, 'Owners may grant and revoke roles in their own customers.'),
  managers_can_manage_admins: flag(
    false,
    'Project managers may grant, change and revoke the role of administrator in their own projects.',
  ),
} satisfies Settings;
