import type { Context } from '../../kernel/access/context.ts';
import { notify, responsibleFor } from '../notifications/notify.ts';
import type { QuotaRow } from './usage.ts';

/** Percentages of a limit at which users are notified. */
const steps = [100, 80];
/** A step is reported again only after usage was this many points below it. */
const hysteresis = 5;

/** Notifies the responsible users when usage reaches a step (events.md 8.1). */
export function reportUsage(context: Context, before: QuotaRow, after: QuotaRow): void {
  if (before.usage === after.usage && before.limit === after.limit) return;
  const { reported_percent: reported } = after;
  if (after.limit <= 0 && reported === 0) return;
  const percent = after.limit > 0 ? Math.floor((after.usage * 100) / after.limit) : 0;
  const step = steps.find((one) => percent >= one) ?? 0;
  const isReported = step > reported;
  if (!isReported && (reported === 0 || percent > reported - hysteresis)) return;
  context.app.db.update('quota', after.id, { reported_percent: step });
  if (isReported) notifyOf(context, after, percent);
}

function notifyOf(context: Context, quota: QuotaRow, percent: number): void {
  const { db, scopes } = context.app;
  const own = scopes.of('quota').own(db, quota.id);
  const { scope_name: name } = scopes.of('quota').scope(db, quota.id);
  notify(context, 'quota_nearly_used', {
    context: { ...own, percent },
    users: responsibleFor(context.app, own),
    about: quota.uuid,
    ...(typeof name === 'string' && { detail: name }),
  });
}
