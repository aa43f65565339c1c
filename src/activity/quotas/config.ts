import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof quotaSettings> {}
}

/** The quota settings. */
export const quotaSettings = {
  quota_history_retention: duration<null>(null, 'How long the history of quotas is stored; default: for ever.'),
} satisfies Settings;
