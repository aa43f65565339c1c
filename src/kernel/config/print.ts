import { second } from '../clock.ts';
import { withoutCredentials } from '../url.ts';
import { type SettingName, secretSettings, settings } from './config.ts';
import { durationUnits } from './setting.ts';

/** A setting's value as one would write it on the command line; credentials are stars. */
export function printSetting(name: SettingName, value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  // Of a URL the rest is no secret, and tells whether it is the right one.
  if (secretSettings.has(name) && settings[name].kind !== 'URL') return '********';
  return withoutCredentials(printed(name, value));
}

function printed(name: SettingName, value: unknown): string {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'object' ? `${item.url}|${item.cert_file}` : item)).join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  if (settings[name].kind === 'duration' && typeof value === 'number') {
    const unit = Object.entries(durationUnits)
      .reverse()
      .find(([, size]) => value % size === 0);
    return unit ? `${value / unit[1]}${unit[0]}` : `${value / second}s`;
  }
  return String(value);
}
