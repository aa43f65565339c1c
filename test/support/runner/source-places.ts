import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Replaces locations in compiled files, as in stack traces, with those in their sources. */
export function sourcePlaces(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replace(
    /(file:\/\/\S+?\.js|\/\S+?\.js):(\d+):(\d+)/g,
    (place, name: string, line: string, column: string) => {
      const file = name.startsWith('file:') ? fileURLToPath(name) : name;
      if (!maps.has(file)) {
        const map = `${file}.map`;
        maps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
      }
      const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (!entry || !('originalSource' in entry)) return place;
      return `${join(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    },
  );
}
