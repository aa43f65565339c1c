import { settingNames, settings } from '../../src/app/settings.ts';
import { second } from '../../src/kernel/clock.ts';
import type { SettingName } from '../../src/kernel/config/config.ts';
import type { Setting } from '../../src/kernel/config/setting.ts';

type Texts = Readonly<Record<string, string>>;

/**
 * Returns a valid, non-default value for every setting. `texts` has those that cannot be derived from the declaration, such as
 * files and addresses. Throws if a setting has neither.
 */
export function otherSettings(texts: Texts): Texts {
  const unknown = Object.keys(texts).filter((name) => !Object.hasOwn(settings, name));
  if (unknown.length > 0) throw new Error(`there are no settings ${unknown}`);
  return Object.fromEntries(settingNames.map((name) => [name, texts[name] ?? derived(name)]));
}

/** Derives a value from the declaration of a setting. */
function derived(name: SettingName): string {
  const { fallback, kind }: Setting<unknown> = settings[name];
  if (kind === 'boolean') return String(!fallback);
  if (kind === 'integer') return String(typeof fallback === 'number' ? fallback + 1 : 3600);
  if (kind === 'duration') return typeof fallback === 'number' ? `${fallback / second + 1}s` : '400d';
  if (kind === 'networks') return '127.0.0.0/8';
  if (kind === 'ports') return '81';
  throw new Error(`the setting ${name} needs a value in the tests of the one-file build`);
}
