import type { TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/*
 * Names and descriptions that were changed here and not at the provider (services.md 8.4): rows store the provider's name
 * last, and only what differs from that overwrites ours.
 */

const columns = [
  ['name', 'backend_name'],
  ['description', 'backend_description'],
] as const;

/** The provider's values of a new row: those sent at the creation, or those it reported. */
export const backendNames = ({ description, name }: PlainValues): PlainValues => ({
  backend_name: name,
  backend_description: description,
});

/** Values that a provider reported, without a name and description that it has reported before. */
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
