import { statfsSync } from 'node:fs';
import type { Log } from '../../kernel/log.ts';

/** File systems of Linux whose locks and syncs depend on another machine or program, by the type in statfs(2). */
const remoteFileSystems: ReadonlyMap<number, string> = new Map([
  [0x00006969, 'NFS'],
  [0x0000517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'VirtualBox shared folder'],
]);

/** Warns about a data folder that is not on a local disk: SQLite relies on locks between processes and on fsync. */
export function warnOfRemoteDisk(folder: string, log: Log): void {
  if (process.platform !== 'linux') return;
  // The type has 32 bits, signed or unsigned.
  const fileSystem = remoteFileSystems.get(statfsSync(folder).type >>> 0);
  if (fileSystem !== undefined)
    log.warn(
      { folder, file_system: fileSystem },
      'the data folder is probably not on a local disk: if its file system does not support locks and syncs, data can be lost',
    );
}
