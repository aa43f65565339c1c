import { statSync } from 'node:fs';
import type { LogReport } from './log-repair.ts';

/**
 * What looks whether the file of an open database is still the one that was opened, and whole: SQLite goes on without a word
 * with one that was removed or replaced, and finds damage page by page in one that was cut. It never makes the file shorter
 * by itself. Reports what it finds as lost.
 */
export function watchFile(file: string, report: Pick<LogReport, 'lost'>): () => void {
  let seen = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    const change =
      now === undefined
        ? 'removed'
        : now.ino !== seen.ino
          ? 'replaced'
          : now.size < seen.size
            ? `cut from ${seen.size} to ${now.size} bytes`
            : undefined;
    if (now === undefined || change !== undefined)
      report.lost(new Error(`${file} was ${change} while it was served: restore a backup`));
    else seen = now;
  };
}
