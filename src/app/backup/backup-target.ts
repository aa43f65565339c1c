import type { Readable } from 'node:stream';

/** `tenantry-<YYYYMMDDTHHMMSSZ>-<8 hex of the installation>.db.gz[.age]` */
export const backupName = /^tenantry-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-([0-9a-f]{8})\.db\.gz(\.age)?$/;

/** A backup at a target. */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
}

/** Where scheduled backups are stored. All methods reject with a sentence. */
export interface BackupTarget {
  readonly kind: 'folder' | 's3';
  /** The folder or s3 URL, for people. */
  readonly place: string;
  /** Stores a file under a name that must not exist. It appears there when it is complete. */
  put(name: string, file: string): Promise<void>;
  /** Lists the files that are complete. */
  list(): Promise<readonly StoredFile[]>;
  /** Opens a file for reading. */
  get(name: string): Promise<Readable>;
  remove(name: string): Promise<void>;
  /** Removes what failed attempts have left behind. */
  removeRemains(): Promise<void>;
}
