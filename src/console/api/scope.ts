/**
 * The customer or project that the user works in, selected in the sidebar. It is the default filter of every list that supports
 * it, and never restricts which pages an address opens.
 */
import { signal } from '@preact/signals';
import { type Item, isItem, textOf, uuidIn } from '../item.ts';
import { storageKeyOf, token } from './connection.ts';
import type { Filter } from './document.ts';
import { collections } from './session.ts';

interface ScopeObject {
  readonly uuid: string;
  readonly url: string;
  readonly name: string;
}

export interface Scope {
  readonly customer?: ScopeObject | undefined;
  readonly project?: ScopeObject | undefined;
}

const storageKey = storageKeyOf('scope');

const readObject = (value: unknown): ScopeObject | undefined => {
  if (!isItem(value)) return undefined;
  const object = { uuid: textOf(value, 'uuid'), url: textOf(value, 'url'), name: textOf(value, 'name') };
  return object.uuid === '' ? undefined : object;
};

function readScope(): Scope {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
    return isItem(stored) ? { customer: readObject(stored.customer), project: readObject(stored.project) } : {};
  } catch {
    return {};
  }
}

export const scope = signal<Scope>(readScope());

export function chooseScope(chosen: Scope): void {
  scope.value = chosen;
  if (chosen.customer) sessionStorage.setItem(storageKey, JSON.stringify(chosen));
  else sessionStorage.removeItem(storageKey);
}

token.subscribe((value) => {
  // After a sign-out, the next user of this tab starts without a scope.
  if (value === null) chooseScope({});
});

/** Converts an API object to a part of the scope. */
export const scopeObject = (item: Item): ScopeObject => ({
  uuid: textOf(item, 'uuid'),
  url: textOf(item, 'url'),
  name: textOf(item, 'name'),
});

/** Moves the scope to the customer of an opened object, if it belongs to a different one. */
export function followObject(list: string, item: Item): void {
  const { customer, project } = scope.value;
  if (!customer) return;
  const owner =
    list === 'customers'
      ? scopeObject(item)
      : {
          uuid: textOf(item, 'customer_uuid') || uuidIn(textOf(item, 'customer')),
          url: textOf(item, 'customer'),
          name: textOf(item, 'customer_name'),
        };
  if (owner.uuid === '' || owner.name === '') return;
  const inside = list === 'projects' ? textOf(item, 'uuid') : textOf(item, 'project_uuid');
  if (owner.uuid !== customer.uuid) chooseScope({ customer: owner });
  else if (project && inside !== '' && inside !== project.uuid) chooseScope({ customer });
}

/** The parameters that narrow a list to a scope, by the filters that it has; empty if the list knows none. */
export function scopeParameters(
  list: string,
  filters: readonly Filter[],
  { customer, project }: Scope = scope.value,
): Readonly<Record<string, string>> {
  if (!customer) return {};
  const has = (name: string): boolean => filters.some((filter) => filter.name === name);
  const inner = project ?? customer;
  if (list === 'alerts') return { aggregate: project ? 'project' : 'customer', uuid: inner.uuid };
  if (list === 'events') return { scope: inner.url };
  for (const name of project ? ['project_uuid', 'project'] : []) if (has(name)) return { [name]: inner.uuid };
  if (list === 'projects' || list === 'users' || has('customer_uuid') || has('customer'))
    for (const name of ['customer_uuid', 'customer']) if (has(name)) return { [name]: customer.uuid };
  return {};
}

/** Parameters that already limit a list in the address and therefore override the scope. */
export const scopeNames: readonly string[] = [
  'customer_uuid',
  'customer',
  'project_uuid',
  'project',
  'scope',
  'aggregate',
  'uuid',
  'user',
  'user_uuid',
];

/** Returns the query of a list, limited to a customer or project (default: the current scope). */
export function scopedQuery(list: string, query: Readonly<Record<string, string>> = {}, within = scope.value): string {
  const filters = collections.value.get(list)?.filters ?? [];
  return new URLSearchParams({ ...query, ...scopeParameters(list, filters, within) }).toString();
}
