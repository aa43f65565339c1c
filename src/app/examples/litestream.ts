import { join } from 'node:path';
import { databaseFile } from '../data/data-folder.ts';
import type { Setup } from './setup.ts';

/** Returns a Litestream configuration (https://litestream.io/reference/config/) for the database in the data folder. */
export function litestreamConfig({ config, data }: Setup): string {
  const advice = config.replicated
    ? ''
    : `# The server needs the setting replicated=true, because two programs that checkpoint the write-ahead log interfere.
`;
  const database = join(data, databaseFile);
  return `# /etc/litestream.yml, for Litestream 0.5.9 or later
#   litestream replicate -no-expand-env -config /etc/litestream.yml
#   litestream restore -no-expand-env -config /etc/litestream.yml -o /new/folder/${databaseFile} ${database}
# With -timestamp 2026-01-31T12:00:00Z, restore returns the state at that time. Before a planned switch-over, upload everything:
#   litestream sync -wait -socket /run/litestream-tenantry.sock ${database}
${advice}# Run Litestream as the user of the server. It does not copy secret.key of the data folder, which decrypts the secrets in the
# database: store a copy elsewhere.
socket:
  enabled: true
  path: /run/litestream-tenantry.sock
  permissions: 0600
# The time between two full copies, and how far back a restore can go.
snapshot:
  interval: 6h
  retention: 72h
dbs:
  - path: ${JSON.stringify(database)}
    # A failure loses at most the writes of this interval and the next, and those during an upload.
    monitor-interval: 500ms
    replica:
      type: file
      # Change the last part after each promotion: two servers must not replicate to the same path.
      path: /var/backups/tenantry-replica/1
      sync-interval: 500ms
    # An S3 server. Set its keys in the environment: LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY.
    # replica:
    #   type: s3
    #   endpoint: https://s3.example.com
    #   bucket: tenantry
    #   path: replica/1
    #   sync-interval: 500ms
`;
}
