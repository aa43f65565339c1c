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

/** What somebody does who is not the user that these files belong to: what anybody else leaves there, a server may not open. */
export const runAs = (uid: number): string => `run this as that user: sudo -u ${userName(uid)} tenantry …`;
