import { userInfo } from 'node:os';
import { AuditDraft } from '../../kernel/access/audit-draft.ts';
import type { App } from '../../kernel/app.ts';
import { type AuditPlaces, appendRecord, ensureChain, type NewRecord } from './append.ts';

/** Returns the members that all records of commands share, without the object. */
export const ofCommand = () =>
  ({
    outcome: 'done',
    status: 0,
    actor: { kind: 'cli', uuid: null },
    via: { kind: 'cli', uuid: null },
    actorName: operatorName(),
    address: null,
  }) satisfies Partial<NewRecord>;

/**
 * Records a command in the transaction of its first change. Lower layers set the object in `trail.current` (audit.md 2).
 * `placesOf` returns the customers and projects.
 */
export function recordCommand(app: App, command: string, placesOf: (draft: AuditDraft) => AuditPlaces): void {
  const { clock, db, trail } = app;
  const draft = new AuditDraft();
  trail.current = draft;
  db.beforeCommit = () => {
    db.beforeCommit = undefined;
    const { login } = draft;
    if (login) draft.about('users', login.user.uuid, login.user.username);
    const { customers, projects } = placesOf(draft);
    ensureChain(app, clock.now());
    appendRecord(app, {
      ...ofCommand(),
      at: clock.now(),
      operation: command,
      object: draft.object,
      customers,
      projects,
      objectName: draft.objectName,
      changes: draft.changes,
    });
  };
}

/** Returns the operating system account; null if it has no name, such as in containers. */
function operatorName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
