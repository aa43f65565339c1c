import type { Config, SettingName } from '../../kernel/config/config.ts';

/** What holds instead of the defaults where a server only tries things out: its hooks may call receivers on this machine. */
const defaults = { hooks_allowed_networks: ['127.0.0.0/8', '::1/128'] } satisfies Partial<Config>;

/** These defaults, of a server in memory or with sample data, for the settings that are not given. */
export const localDefaults = (isGiven: (name: SettingName) => boolean): Partial<Config> =>
  isGiven('hooks_allowed_networks') ? {} : defaults;
