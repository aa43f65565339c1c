import { join } from 'node:path';
import { databaseFile } from '../data/data-folder.ts';
import type { Setup } from './setup.ts';

/** Litestream's configuration (https://litestream.io/reference/config/) for the database of the data folder. */
export function litestreamConfig({ config, data }: Setup): string {
  const advice = config.replicated
    ? ''
    : `# The server needs the setting replicated=true: two programs that move the write-ahead log are in each other's way.
`;
  return `# /etc/litestream.yml
#   litestream replicate -no-expand-env -config /etc/litestream.yml
#   litestream restore -no-expand-env -config /etc/litestream.yml -o /new/folder/${databaseFile} ${join(data, databaseFile)}
${advice}# It runs as the user of the server. secret.key of the data folder opens what is encrypted in the database and is not
# copied by Litestream: keep it elsewhere, too.
dbs:
  - path: ${JSON.stringify(join(data, databaseFile))}
    # What is lost at worst is what was written in this time and the next, and while a copy was sent.
    monitor-interval: 500ms
    replicas:
      - type: file
        path: /var/backups/tenantry-replica
        sync-interval: 500ms
        # How far back a restore can go, and after which time it begins with a new whole copy.
        retention: 72h
        snapshot-interval: 6h
      # A server that speaks S3; its keys are LITESTREAM_ACCESS_KEY_ID and LITESTREAM_SECRET_ACCESS_KEY in the environment.
      # - type: s3
      #   endpoint: https://s3.example.com
      #   bucket: tenantry
      #   path: replica
      #   sync-interval: 500ms
      #   retention: 72h
      #   snapshot-interval: 6h
`;
}
