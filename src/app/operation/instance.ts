import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Identifies a data folder on this machine: by its inode, so that two containers that both call theirs `/data` differ, and a
 * copy of a folder is another one. Throws as the file system does.
 */
export function instanceOf(folder: string): string {
  const { dev, ino } = statSync(join(folder, '/'), { bigint: true });
  return createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 32);
}
