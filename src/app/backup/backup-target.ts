import type { Readable } from 'node:stream';

/** `tenantry-<YYYYMMDDTHHMMSSZ>-<8 hex of the installation>.db.gz[.age]` */
export const backupName = /^tenantry-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{8})\.db\.gz(\.age)?$/;

/** A backup at a target. */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
}

/** A place that stores scheduled backups. All methods reject with readable errors. */
export interface BackupTarget {
  readonly kind: 'folder' | 's3';
  /** The folder or s3 URL, for display. */
  readonly place: string;
  /** Stores a file under a new name. The name appears only when the file is complete. */
  put(name: string, file: string): Promise<void>;
  /** Lists the complete files. */
  list(): Promise<readonly StoredFile[]>;
  /** Opens a file for reading. */
  get(name: string): Promise<Readable>;
  /** Creates or replaces a small file. */
  write(name: string, content: string): Promise<void>;
  remove(name: string): Promise<void>;
  /**
   * Removes what failed uploads of an installation left behind more than a day ago. Returns the reason if the target does not
   * allow this.
   */
  removeRemains(installation: string): Promise<string | undefined>;
}

/** Whether this is the name of a backup of an installation. */
export const isBackupOf = (installation: string, name: string): boolean => backupName.exec(name)?.[7] === installation;
