import type { Json } from '../../support/fixture.ts';
import { checkNames, type RestCall, type RestRoutes } from '../rest.ts';
import { denial } from './rejection.ts';
import type { Setup } from './setup.ts';

/** The context of the routes. */
export interface Site {
  readonly contents: Setup;
  /** The project of a call's token, and the address of the stand-in. */
  readonly project: (call: RestCall) => string;
  readonly url: () => string;
}

/** A kind of object: its routes and behaviour. */
export interface ObjectKind {
  /** Such as `network/floatingips`. */
  readonly list: string;
  /** Such as `floatingip`. */
  readonly name: string;
  readonly parameters: { readonly required?: readonly string[]; readonly optional: readonly string[] };
  /** Members that updates may change; default: none. */
  readonly changes?: readonly string[];
  readonly method?: 'PUT' | 'PATCH';
  /** Filters of the list. */
  readonly filters: readonly string[];
  /** Whether lists contain only the objects of the caller's project, unless all are requested. */
  readonly isOfProject?: boolean;
  /** Whether lists are at `…/detail`. */
  readonly isDetailed?: boolean;
  /** Status of the response to a creation. */
  readonly created: number;
  /** Returns further members of a new object. Throws a rejection. */
  readonly initialValues: (values: Json, project: string) => Json;
  /** Runs after a creation. */
  readonly onCreated?: (object: Json) => void;
  readonly change?: (object: Json, values: Json) => void;
  readonly remove: (object: Json) => void;
  readonly displayed?: (object: Json) => Json;
}

/** Throws the services' rejection of missing or unknown members. */
export function checkParameters(list: string, values: Json, parameters: ObjectKind['parameters']): void {
  const { missing, unknown } = checkNames(values ?? {}, parameters);
  if (unknown.length > 0)
    throw denial(list, 400, `Additional properties are not allowed ('${unknown.join("', '")}' was unexpected)`);
  if (missing.length > 0) throw denial(list, 400, `'${missing.join("', '")}' is a required property`);
}

const same = (object: Json): Json => object;

/** A list and the objects in it. */
export interface Listed {
  readonly list: string;
  readonly filters: readonly string[];
  readonly matches: readonly Json[];
  readonly displayed?: (object: Json) => Json;
}

/** Returns a page of a list, with the link to the next one in the service's form. */
export function page(site: Site, call: RestCall, { filters, matches, list, displayed = same }: Listed): Json {
  const { query, request } = call;
  checkParameters(list, Object.fromEntries(query), { optional: [...filters, 'limit', 'marker', 'all_tenants'] });
  const member = (list.split('/')[1] ?? '').replaceAll('-', '_');
  const isWanted = (one: Json): boolean =>
    filters.every((name) => {
      const value = query.get(name);
      if (value === null || value === 'None') return true;
      if (name !== 'fixed_ips') return String(one[name] ?? '').toLowerCase() === value.toLowerCase();
      return one.fixed_ips.some(({ subnet_id: id }: Json) => `subnet_id=${id}` === value);
    });
  const wanted = matches.filter(isWanted);
  const size = Math.min(Number(query.get('limit') ?? site.contents.largestPage), site.contents.largestPage);
  const begin = wanted.findIndex(({ id }) => id === query.get('marker')) + 1;
  const on = wanted.slice(begin, begin + size);
  const next = new URLSearchParams({ ...Object.fromEntries(query), marker: on.at(-1)?.id ?? '' });
  const path = request.target.split('?')[0];
  const link = list.startsWith('image/')
    ? { next: `${path}?${next}` }
    : { [`${member}_links`]: [{ rel: 'next', href: `${site.url()}${path}?${next}` }] };
  return { [member]: on.map(displayed), ...(begin + size < wanted.length && link) };
}

/** Returns the routes of a kind of object. */
export function routesOf(site: Site, kind: ObjectKind): RestRoutes {
  const { changes, created, remove, filters, list, method = 'PUT', name, displayed = same, parameters } = kind;
  const { contents: setup } = site;
  const one = `/${list}/:id`;
  const withId = ({ params }: RestCall): Json => setup.with(list, params.id ?? '');
  const isSeen = (call: RestCall, object: Json): boolean =>
    !kind.isOfProject || call.query.has('all_tenants') || object.project_id === site.project(call);
  return {
    [`GET /${list}${kind.isDetailed ? '/detail' : ''}`]: (call) => ({
      json: page(site, call, {
        list,
        filters,
        displayed,
        matches: setup.all(list).filter((object) => isSeen(call, object)),
      }),
    }),
    [`POST /${list}`]: (call) => {
      const values = call.json?.[name];
      checkParameters(list, call.json, { required: [name], optional: [] });
      checkParameters(list, values, parameters);
      const project = site.project(call);
      const initial = { ...kind.initialValues(values, project), ...setup.initialValues[list]?.(values) };
      const object = setup.put(list, { project_id: project, description: '', ...values, ...initial });
      kind.onCreated?.(object);
      return { status: created, json: { [name]: displayed(object) } };
    },
    [`GET ${one}`]: (call) => ({ json: { [name]: displayed(withId(call)) } }),
    [`${method} ${one}`]: (call) => {
      const object = withId(call);
      const values = call.json?.[name];
      checkParameters(list, values, { optional: changes ?? [] });
      Object.assign(object, values);
      kind.change?.(object, values);
      return { json: { [name]: displayed(object) } };
    },
    [`DELETE ${one}`]: (call) => {
      remove(withId(call));
      return { status: list.startsWith('volume/') ? 202 : 204 };
    },
  };
}
