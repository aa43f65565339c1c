import type { TypedKind } from '../catalogue/catalogue.ts';
import type { PlainValues } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';

/*
 * Names and descriptions that were changed only here (services.md 8.4). Rows store the last name that the provider reported, and
 * only a different one overwrites ours.
 */

const columns = [
  ['name', 'backend_name'],
  ['description', 'backend_description'],
] as const;

/** Returns the provider's values of a new row: those sent at creation or those reported. */
export const backendNames = ({ description, name }: PlainValues): PlainValues => ({
  backend_name: name,
  backend_description: description,
});

/** Removes an already reported name and description from reported values. */
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
  Object.fromEntries(
    columns.flatMap(([own, theirs]) => (kind.pushedFields?.includes(own) ? [[theirs, resource[own]]] : [])),
  );
