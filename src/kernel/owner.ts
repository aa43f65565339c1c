import { readFileSync } from 'node:fs';

/** The name of the user with this id; `#` and the id, which sudo takes as well, where the machine has no name for it. */
function userName(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((text) => text.split(':')[2] === String(uid));
    return line?.split(':')[0] || `'#${uid}'`;
  } catch {
    return `'#${uid}'`;
  }
}

/** Runs as a user other than the owner of these files: a server may be unable to open files of other users. */
export const runAs = (uid: number): string => `run this as that user: sudo -u ${userName(uid)} tenantry …`;
