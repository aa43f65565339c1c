import { second } from '../clock.ts';
import { withoutCredentials } from '../url.ts';
import { durationUnits, type Setting } from './setting.ts';

/** A setting's value as one would write it on the command line; credentials are stars. */
export function printValue(setting: Setting<unknown>, value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  // The rest of a URL is not secret, and shows whether it is the right one.
  if (setting.isSecret && setting.kind !== 'URL') return '********';
  return withoutCredentials(printed(setting, value));
}

function printed({ kind }: Setting<unknown>, value: unknown): string {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'object' ? `${item.url}|${item.cert_file}` : item)).join(',');
  if (typeof value === 'object') return JSON.stringify(value);
  if (kind === 'duration' && typeof value === 'number') {
    const unit = Object.entries(durationUnits)
      .reverse()
      .find(([, size]) => value % size === 0);
    return unit ? `${value / unit[1]}${unit[0]}` : `${value / second}s`;
  }
  return String(value);
}
