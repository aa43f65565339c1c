import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { integer } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof serviceAccountSettings> {}
}

/** The service account settings. */
export const serviceAccountSettings = {
  service_accounts_per_scope: integer(20, 'Maximum number of service accounts of a customer, and of a project.'),
} satisfies Settings;
