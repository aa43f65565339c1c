import type { Actor } from './caller.ts';

declare module '../app.ts' {
  interface App {
    readonly trail: Trail;
  }
}

/** The object of an audit record: the segment of its collection's path, and its uuid or pk. */
export interface AuditObject {
  readonly type: string;
  readonly uuid: string;
}

/** A changed field of an audit record. */
export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A row of a table, from which the customer and project of a record follow. */
export interface AuditRow {
  readonly table: string;
  readonly id: number;
  /** Its columns before the change; absent: those after it. */
  readonly row?: object;
}

/** Details that a change reports while it runs; they become one audit record (audit.md 2). */
export class AuditDraft {
  object: AuditObject | null = null;
  objectName: string | null = null;
  /** A login: the user, and the session that it created. */
  login: { readonly method: string; readonly session: string; readonly user: Actor } | undefined;
  /** Whether a login is rejected, where the status of the response does not say so; undefined: the status does. */
  isLoginRejected: boolean | undefined;
  readonly changes: FieldChange[] = [];
  /** The contexts of the events that it causes. */
  readonly contexts: Readonly<Record<string, string>>[] = [];
  readonly rows: AuditRow[] = [];
  /** Whether it updates an object: one that stores the same values again leaves no record, unless it causes an event. */
  isUpdate = false;

  /** Names the object, unless an outer step has done so. */
  about(type: string, uuid: string, name: unknown): void {
    if (this.object) return;
    this.object = { type, uuid };
    if (typeof name === 'string' && name !== '') this.objectName = name;
  }
}

/** The newest record of the trail, which the next one follows. */
export interface TrailTail {
  readonly id: number;
  readonly chain_id: number;
  readonly sequence: number;
  readonly hash: string;
  /** `Versions.generation` when it was read or written. */
  readonly generation: number;
}

/** In-memory state for the audit records of a deployment. */
export class Trail {
  /** The change that runs now; undefined for timers and jobs. */
  current: AuditDraft | undefined;
  /** Whether sample data are made, whose history has no records. */
  isPaused = false;
  /** The name of the timer's task that runs now. */
  task: string | undefined;
  /** The newest record; undefined until it is read. */
  tail: TrailTail | undefined;
  /** Texts of the chains' uuids by the ids of their rows. */
  readonly chains = new Map<number, string>();

  /** `random` makes salts, apart from ids: a reproducible deployment has the same ids with and without a trail. */
  constructor(readonly random: (bytes: number) => Buffer) {}

  /** Notes whether the login that runs now is rejected, whatever the status of its response. */
  noteLogin(isRejected: boolean): void {
    if (this.current) this.current.isLoginRejected = isRejected;
  }

  /** Runs a change with a draft that the code below finds in `current`. */
  during<T>(draft: AuditDraft, work: () => T): T {
    const outer = this.current;
    this.current = draft;
    try {
      return work();
    } finally {
      this.current = outer;
    }
  }
}
