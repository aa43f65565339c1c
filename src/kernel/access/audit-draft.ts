import type { Actor } from './caller.ts';

declare module '../app.ts' {
  interface App {
    readonly trail: Trail;
  }
}

/** The object of an audit record: the path segment of its collection, and its uuid or pk. */
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

/** A row that determines the customer and project of a record. */
export interface AuditRow {
  readonly table: string;
  readonly id: number;
  /** The columns before the change. Default: the current ones. */
  readonly row?: object;
}

/** Details that a change reports as it runs. They become one audit record (audit.md 2). */
export class AuditDraft {
  object: AuditObject | null = null;
  objectName: string | null = null;
  /** A login: the user and the new session. */
  login: { readonly method: string; readonly session: string; readonly user: Actor } | undefined;
  /** Whether a login is rejected, if the response status does not show it; undefined if it does. */
  isLoginRejected: boolean | undefined;
  readonly changes: FieldChange[] = [];
  /** The contexts of its events. */
  readonly contexts: Readonly<Record<string, string>>[] = [];
  readonly rows: AuditRow[] = [];
  /** Whether it updates an object. An update without changes or events leaves no record. */
  isUpdate = false;

  /** Sets the object, unless an outer step has already set it. */
  about(type: string, uuid: string, name: unknown): void {
    if (this.object) return;
    this.object = { type, uuid };
    if (typeof name === 'string' && name !== '') this.objectName = name;
  }
}

/** The newest record of the trail. */
export interface TrailTail {
  readonly id: number;
  readonly chain_id: number;
  readonly sequence: number;
  readonly hash: string;
  /** `Versions.generation` at the time it was read or written. */
  readonly generation: number;
}

/** In-memory state for the audit records of a deployment. */
export class Trail {
  /** The current change; undefined for timers and jobs. */
  current: AuditDraft | undefined;
  /** Whether sample data is being created, whose history has no records. */
  isPaused = false;
  /** The name of the running housekeeping task. */
  task: string | undefined;
  /** The newest record; undefined until it is read. */
  tail: TrailTail | undefined;
  /** Uuids of chains by row id. */
  readonly chains = new Map<number, string>();

  /** `random` generates salts. It is separate from ids, so that a reproducible deployment has the same ids without a trail. */
  constructor(readonly random: (bytes: number) => Buffer) {}

  /** Records whether the current login is rejected, regardless of its response status. */
  noteLogin(isRejected: boolean): void {
    if (this.current) this.current.isLoginRejected = isRejected;
  }

  /** Runs a change with a draft, which lower layers find in `current`. */
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
