import { statfsSync } from 'node:fs';
import type { Log } from '../../kernel/log.ts';

/** File systems of Linux whose locks and syncs are another machine's or program's, by the number that statfs(2) gives them. */
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
  // The kernel has the number in 32 bits, with or without a sign.
  const fileSystem = remoteFileSystems.get(statfsSync(folder).type >>> 0);
  if (fileSystem !== undefined)
    log.warn(
      { folder, file_system: fileSystem },
      'the data folder may not be on a local disk: if its file system does not keep locks and syncs, data is lost',
    );
}
