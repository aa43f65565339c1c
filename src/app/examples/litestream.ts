import { join } from 'node:path';
import { databaseFile } from '../data/data-folder.ts';
import type { Setup } from './setup.ts';

/** Returns the configuration of Litestream (https://litestream.io/reference/config/) for the database in the data folder. */
export function litestreamConfig({ config, data }: Setup): string {
  const advice = config.replicated
    ? ''
    : `# The server needs the setting replicated=true, because two programs that checkpoint the write-ahead log interfere.
`;
  return `# /etc/litestream.yml
#   litestream replicate -no-expand-env -config /etc/litestream.yml
#   litestream restore -no-expand-env -config /etc/litestream.yml -o /new/folder/${databaseFile} ${join(data, databaseFile)}
${advice}# Run Litestream as the user of the server. It does not copy secret.key of the data folder, which decrypts the secrets in the
# database: store a copy elsewhere.
dbs:
  - path: ${JSON.stringify(join(data, databaseFile))}
    # A failure loses at most the writes of this interval and the next, and those during an upload.
    monitor-interval: 500ms
    replicas:
      - type: file
        path: /var/backups/tenantry-replica
        sync-interval: 500ms
        # How far back a restore can go, and the time between two full copies.
        retention: 72h
        snapshot-interval: 6h
      # An S3 server. Set its keys in the environment: LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY.
      # - type: s3
      #   endpoint: https://s3.example.com
      #   bucket: tenantry
      #   path: replica
      #   sync-interval: 500ms
      #   retention: 72h
      #   snapshot-interval: 6h
`;
}
