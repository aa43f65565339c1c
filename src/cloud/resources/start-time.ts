import type { Context } from '../../kernel/access/context.ts';
import type { Value } from '../../kernel/db/sql.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/**
 * The column start_time of a change: the instant that the provider reports, else the one at which the resource went online
 * here, and null while it is offline (services.md 7.1).
 */
export function startTime(
  { app, now }: Context,
  resource: Pick<ResourceRow, 'kind' | 'runtime_state'>,
  values: PlainValues,
): Record<string, Value> {
  const { kind } = app.catalogue.kind(resource.kind);
  if (values.runtime_state === undefined || values.runtime_state === resource.runtime_state) return {};
  if (values.runtime_state === kind.offline) return { start_time: null };
  return values.runtime_state === kind.online && values.start_time === undefined ? { start_time: now } : {};
}
