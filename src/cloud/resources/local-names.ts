import type { TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/*
 * Names and descriptions that were changed here and not at the provider (services.md 8.4): rows keep what the provider told
 * last, and only what differs from that overwrites ours.
 */

const columns = [
  ['name', 'backend_name'],
  ['description', 'backend_description'],
] as const;

/** What a new row holds as the provider's: what the provider is told at the creation, or has told. */
export const backendNames = ({ description, name }: PlainValues): PlainValues => ({
  backend_name: name,
  backend_description: description,
});

/** Values that a provider told of a resource, without a name and description that it had told before. */
export function withLocalNames(
  resource: Pick<ResourceRow, 'backend_name' | 'backend_description'>,
  reports: PlainValues,
): PlainValues {
  const values = { ...reports };
  for (const [own, theirs] of columns) {
    if (values[own] === undefined) continue;
    if (values[own] === resource[theirs]) delete values[own];
    else values[theirs] = values[own];
  }
  return values;
}

/** Stores the name and description that a successful update sent to the provider. */
export const pushedNames = ({ kind }: TypedKind, resource: ResourceRow): PlainValues =>
  Object.fromEntries(columns.flatMap(([own, theirs]) => (kind.pushes?.includes(own) ? [[theirs, resource[own]]] : [])));
