import { second } from '../../kernel/clock.ts';
import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { duration, flag, list, requiredText, serverAddress } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof replicationSettings> {}
}

/** Settings of replication. */
export const replicationSettings = {
  replicated: flag(
    false,
    'Another program, such as Litestream, copies the database all the time: it is left to that program to move the write-ahead log, and writes are answered with the version that followers wait for.',
  ),
  follow_interval: duration<number>(2 * second, 'Time between two copies that a follower makes.'),
  litestream_program: requiredText('litestream', 'Litestream, with which a follower restores from a replica.'),
  peers: list(
    [],
    'URLs of the servers that may be promoted in the place of this one, or that this one was promoted in the place of: as soon as one has a higher epoch, this one takes no changes.',
    serverAddress,
  ),
} satisfies Settings;
