/** Notifies staff of problems with the machine and the certificate (events.md 8.1). */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statfsSync } from 'node:fs';
import { monthWeekAndDay, notify, staffUsers } from '../../activity/notifications/notify.ts';
import type { Context } from '../../kernel/access/context.ts';
import { isoTime } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Notify staff below this many free bytes, and again only after it was exceeded. */
const lowBytes = 1e9;
const recoveredBytes = 2e9;

/** Notifies staff when the disk with the data folder is nearly full. */
export function watchDisk(context: Context): void {
  const { app } = context;
  const folder = app.deployment.backups === undefined ? undefined : app.config.data;
  if (folder === undefined) return;
  const free = freeBytes(folder);
  if (free === undefined) return;
  const isReported = app.db.scalar<number>(sql`SELECT is_disk_low FROM deployment`) === 1;
  if (isReported ? free <= recoveredBytes : free >= lowBytes) return;
  app.db.update('deployment', 1, { is_disk_low: Number(!isReported) });
  if (!isReported) notify(context, 'disk_low', { context: { free_bytes: free }, users: staffUsers, about: 'disk' });
}

/** Returns the free bytes; undefined if the file system does not report them. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** Reminds staff before the server's TLS certificate expires. */
export function remindOfCertificate(context: Context): void {
  const { app, now } = context;
  const certificate = validityOf(app.config.tls_cert_file);
  if (!certificate || certificate.to <= now) return;
  const reminded = app.db.scalar<number | null>(sql`SELECT certificate_reminded FROM deployment`) ?? 0;
  const after = Math.max(reminded, certificate.from);
  const isDue = monthWeekAndDay.some((lead) => certificate.to - lead <= now && certificate.to - lead > after);
  if (!isDue) return;
  app.db.update('deployment', 1, { certificate_reminded: now });
  notify(context, 'certificate_expiring', {
    context: { expires: isoTime(certificate.to) },
    users: staffUsers,
    about: 'certificate',
  });
}

/** Returns the instants between which a certificate is valid; undefined without one, or if the file is unreadable. */
function validityOf(file: string | null): { from: number; to: number } | undefined {
  if (file === null) return undefined;
  try {
    const { validFrom, validTo } = new X509Certificate(readFileSync(file));
    return { from: Date.parse(validFrom) * 1000, to: Date.parse(validTo) * 1000 };
  } catch {
    return undefined;
  }
}
