import { readFileSync } from 'node:fs';
import { suggestion } from '../nearest.ts';
import { plainReason } from '../present.ts';
import { ConfigError, type Settings } from './config.ts';

/** Settings in a file: their texts and positions. */
export type ConfigFile = ReadonlyMap<string, { readonly source: string; readonly text: string }>;

/**
 * Reads `name = value` lines. Ignores blank lines and lines that start with `#`. Values are trimmed and parsed as on the command
 * line. Throws ConfigError with the position of the error.
 */
export function readSettingsFile(settings: Settings, path: string): ConfigFile {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`the configuration file cannot be read: ${plainReason(error)}`);
  }
  const result = new Map<string, { source: string; text: string }>();
  for (const [i, line] of content
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const source = `${path}:${i + 1}`;
    const [, name = '', text = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === '') throw new ConfigError(`${source} must be a line such as port = 8080`);
    if (!Object.hasOwn(settings, name))
      throw new ConfigError(`${source}: there is no setting ${name}${suggestion(name, Object.keys(settings))}`);
    const before = result.get(name);
    if (before) throw new ConfigError(`${source}: there is ${before.source} already`);
    result.set(name, { source: `${name} in ${source}`, text });
  }
  return result;
}
