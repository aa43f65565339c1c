import { day, minute } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, integer } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof apiKeySettings> {}
}

const lifetime = duration<number | null>(365 * day, 'Maximum lifetime of an API key; empty: no maximum.', {
  min: minute,
});

/** The API key settings. */
export const apiKeySettings = {
  api_keys_enabled: flag(true, 'Whether API keys can be created and used.'),
  api_keys_per_user: integer(20, 'Maximum number of unexpired API keys of a user.'),
  api_key_lifetime_max: { ...lifetime, read: (text: string) => (text === '' ? null : lifetime.read(text)) },
} satisfies Settings;
