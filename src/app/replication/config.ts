import { second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, list, requiredText, serverAddress, text } from '../../kernel/config/setting.ts';
import { leaseLocation } from './lease-store.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof replicationSettings> {}
}

/** The replication settings. */
export const replicationSettings = {
  replicated: flag(
    false,
    'Another program, such as Litestream, replicates the database continuously. That program checkpoints the write-ahead log, and responses to writes contain the version that followers wait for.',
  ),
  follow_interval: duration<number>(2 * second, 'Time between two copies of a follower.'),
  litestream_program: requiredText('litestream', 'Program with which a follower restores from a Litestream replica.'),
  lease_url: {
    ...text(
      null,
      'Object that decides which one of several servers stores changes: s3://BUCKET/KEY, with the backup_s3_… settings. Default: none.',
    ),
    read: (value: string) => {
      if (value !== '') leaseLocation(value);
      return value || null;
    },
  },
  peers: list(
    [],
    'URLs of the servers that can replace this one by promotion, or that this one has replaced. If one of them has a higher epoch, this server stores no changes.',
    serverAddress,
  ),
} satisfies Settings;
