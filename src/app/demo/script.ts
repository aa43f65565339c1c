/**
 * Scripts describe the history of the sample data in JSON: named lists of steps that plan requests to the API.
 *
 * A step runs if its conditions hold: `if` and `unless` test a value of the scope, `oneIn` is random. It may set variables
 * (`let`: instants, random picks or SSH keys), run other steps (`do`, for `each` item of a list, `with` more variables), or plan
 * one of these:
 * - `send`: a request by a person (`by`; default: the project owner). The response `fills` an object of the scope or is stored
 *   `as` a variable. `sets` stores its instant. `on` names the resource that it changes.
 * - `make`: a resource with tags. `fields` has the fields that its type requires besides the name and the project link.
 * - `grant`: a role `to` a person `in` a customer or project, until it `expires` or `ends`. `next` is the role after that.
 *
 * Names are paths in the scope, such as `project/owner`. A `?` at the end makes a missing value valid. In texts, names are in
 * braces. An object in a request is sent as its link.
 * `{ "offer": "images", "name": … }` is the link of an offer of the provider account. `find` looks up objects in lists.
 * Instants: `now - 3m`, `6d ago` (in office hours), `project/begins + 1h..30h` and `project/begins .. latest` (random).
 */
import { day, hour, isoTime, minute, second } from '../../kernel/clock.ts';
import type { Method } from '../../kernel/collection/endpoint.ts';
import { present } from '../../kernel/present.ts';
import type { Plan } from './plan.ts';
import type { Handle, Organisation, Person, Project } from './sample-data.ts';
import type { Seed } from './seed.ts';
import type { Representation, TimeMachine } from './time-machine.ts';

/** An account at a provider. */
export interface Account extends Handle {
  readonly name: string;
  /** First segment of its paths. */
  readonly prefix: string;
  /** The creator: the owner, or staff. */
  readonly by: Person;
  readonly begins: number;
  /** Link of its settings. */
  readonly settings: string;
}

/** A resource of the sample data. */
export interface Resource extends Handle {
  readonly account: Account;
  readonly project: Project;
  /** First segment of its path. */
  readonly path: string;
  readonly name: string;
  /** Instants of creation and deletion. */
  readonly at: number;
  gone: number;
  /** Whether nothing is planned after its creation. */
  isUntouched: boolean;
}

/** Variables by name. */
type Scope = Record<string, unknown>;

type TextMember =
  | ('if' | 'unless' | 'as' | 'at' | 'by' | 'name')
  | ('send' | 'prepared' | 'fills' | 'sets' | 'on')
  | ('make' | 'grant' | 'to' | 'in' | 'expires' | 'ends' | 'next');

interface Step extends Readonly<Partial<Record<TextMember, string>>> {
  readonly oneIn?: number;
  readonly let?: Readonly<
    Record<string, string | { readonly pick: readonly unknown[] } | { readonly publicKey: string }>
  >;
  readonly each?: string | readonly unknown[];
  readonly do?: string | readonly Step[];
  readonly with?: Scope;
  readonly find?: Readonly<Record<string, Lookup>>;
  readonly body?: unknown;
  readonly fields?: unknown;
}

/** Selects the list item with a name, or the first item. Offers are in a list of the provider account. */
interface Lookup {
  readonly list?: string;
  readonly offer?: string;
  readonly query?: string;
  readonly name?: string;
}

const units: Readonly<Record<string, number>> = { s: second, m: minute, h: hour, d: day };
const environments = ['prod', 'prod', 'stage', 'test'] as const;
const teams = ['core', 'data', 'web'] as const;

/** Plans requests from scripts. */
export class Story {
  readonly resources: Resource[] = [];
  readonly #lists = new Map<string, readonly Representation[]>();

  constructor(
    readonly plan: Plan,
    readonly seed: Seed,
    /** The variables of every script. */
    private readonly root: Scope,
    private readonly scripts: Readonly<Record<string, readonly Step[]>>,
  ) {}

  /** Runs a script with additional variables. */
  play(name: string, variables: Scope = {}): void {
    this.#run(present(this.scripts[name]), { ...this.root, ...variables });
  }

  #run(steps: readonly Step[], scope: Scope): void {
    for (const step of steps) {
      if (step.if !== undefined && !valueAt(scope, `${step.if}?`)) continue;
      if (step.unless !== undefined && valueAt(scope, `${step.unless}?`)) continue;
      if (step.oneIn !== undefined && this.seed.below(step.oneIn) !== 0) continue;
      for (const [name, value] of Object.entries(step.let ?? {})) {
        if (typeof value === 'string') scope[name] = this.instant(value, scope);
        else if ('pick' in value) scope[name] = this.seed.pick(value.pick);
        else scope[name] = this.seed.publicKey(String(filled(value.publicKey, scope)));
      }
      if (step.do !== undefined) this.#runOthers(step, step.do, scope);
      if (step.send !== undefined) this.#planRequest(step, step.send, scope);
      if (step.make !== undefined) this.#planResource(step, step.make, scope);
      if (step.grant !== undefined) this.#planRole(step, scope);
    }
  }

  #runOthers({ as = '', each, with: variables = {} }: Step, steps: string | readonly Step[], scope: Scope): void {
    const others = typeof steps === 'string' ? present(this.scripts[steps]) : steps;
    const inner = { ...scope };
    for (const [name, value] of Object.entries(variables)) inner[name] = filled(value, scope);
    const items = typeof each === 'string' ? Object.values(valueAt<object>(scope, each)) : (each ?? [undefined]);
    for (const item of items) this.#run(others, { ...inner, [as]: filled(item, scope) });
  }

  #planRequest(step: Step, request: string, scope: Scope): void {
    const resource = step.on === undefined ? undefined : valueAt<Resource>(scope, step.on);
    if (resource) resource.isUntouched = false;
    const result = step.fills === undefined ? { url: '' } : valueAt<Handle>(scope, step.fills);
    if (step.as !== undefined) scope[step.as] = result;
    const at = this.instant(present(step.at), scope);
    const [, path = '', name = ''] = /^(.*)\/(.*)$/.exec(step.sets ?? '') ?? [];
    if (step.sets !== undefined) valueAt<Scope>(scope, path)[name] = at;
    const project = resource?.project ?? valueAt<Project>(scope, 'project?');
    this.#planSending(step, scope, { at, request, project, result }, (past, inner) =>
      this.#contentOf(past, step.body ?? {}, inner),
    );
  }

  #planResource(step: Step, path: string, scope: Scope): void {
    const { seed } = this;
    const account = valueAt<Account>(scope, 'account');
    const project = valueAt<Project>(scope, 'project');
    const name = String(filled(step.name, scope));
    const at = this.instant(present(step.at), scope);
    const state = { gone: Number.POSITIVE_INFINITY, isUntouched: true, url: '' };
    const resource: Resource = { account, project, path, name, at, ...state };
    this.resources.push(resource);
    if (step.as !== undefined) scope[step.as] = resource;
    const tags = [`env:${seed.pick(environments)}`, `team:${seed.pick(teams)}`];
    if (seed.below(4) === 0) tags.push('backup:daily');
    const sending = { at, request: `POST /api/${path}/`, project, result: resource };
    this.#planSending(step, scope, sending, (past, inner) => {
      const list = `/api/${account.prefix}-service-project-link/?project_uuid=${uuidIn(project.url)}`;
      const link = this.#list(past, list, account).find((each) => each.service_name === account.name);
      const fields = Object(this.#contentOf(past, step.fields, inner));
      const hasTags = seed.below(10) !== 0;
      return { service_project_link: link?.url, name, tags: hasTags ? tags : [], ...fields };
    });
  }

  /** Plans a request. Variables are bound now, lookups run when it is sent. */
  #planSending(
    { by, find = {}, prepared }: Step,
    scope: Scope,
    { at, project, request, result }: { at: number; request: string; project: Project; result: Handle },
    bodyOf: (past: TimeMachine, scope: Scope) => unknown,
  ): void {
    const inner = { ...scope };
    const [, method = '', link] = /^(\w+) (.*)$/.exec(request) ?? [];
    this.plan.at(at, (past) => {
      for (const [name, lookup] of Object.entries(find)) inner[name] = this.#find(past, lookup, inner);
      const content = { body: Object(bodyOf(past, inner)), prepared: filled(prepared, inner) };
      const sender = by === undefined ? project.owner : valueAt<Person>(inner, by);
      const response = past.send(method as Method, String(linkOf(filled(link, inner))), sender, content);
      Object.assign(result, { url: response.url, response });
    });
  }

  /** Plans a role. The team leader grants roles in customers, the project owner those in projects. */
  #planRole({ at: granted = 'ready + 2h..60h', ends, expires, grant, in: place, next, to }: Step, scope: Scope): void {
    const person = valueAt<Person>(scope, present(to));
    const target = valueAt<Organisation | Project>(scope, present(place));
    const inner: Scope = { ...scope, ready: Math.max(person.joined, target.begins) };
    const at = this.instant(granted, inner);
    const later = (text?: string): number | undefined =>
      filled(text, scope) === undefined ? undefined : this.instant(present(text), { ...inner, at });
    const [expiry, end] = [later(expires), later(ends)];
    const structure = 'organisation' in target ? 'project' : 'customer';
    const path = `/api/${structure}-permissions/`;
    const by = (): Person => ('organisation' in target ? target.owner : valueAt(this.root, 'team/0'));
    const permission = { url: '' };
    const give = (past: TimeMachine, role: unknown, expiration_time: string | null): void => {
      const body = { [structure]: target.url, user: person.url, role, expiration_time };
      permission.url = past.send('POST', path, by(), { body }).url;
    };
    const [role, nextRole] = [grant, next].map((template) => filled(filled(template, scope), scope));
    this.plan.at(at, (past) => give(past, role, expiry === undefined ? null : isoTime(expiry)));
    if (end === undefined) return;
    this.plan.at(end, (past) => {
      past.send('DELETE', permission.url, by());
      if (nextRole !== undefined) give(past, nextRole, null);
    });
  }

  /** Parses an instant. */
  instant(template: string, scope: Scope = this.root): number {
    const { plan, seed } = this;
    const text = String(filled(filled(template, scope), scope));
    const [, fewest, most] = /^(?:(\d+)d\.\.)?(\d+)d ago$/.exec(text) ?? [];
    if (fewest !== undefined) return plan.daysAgo(Number(most) - seed.below(1 + Number(most) - Number(fewest)));
    if (most !== undefined) return plan.daysAgo(Number(most));
    const [from = '', to] = text.split(' .. ');
    if (to !== undefined) return plan.between(this.instant(from, scope), this.instant(to, scope));
    const [, base = '', offsets = ''] = /^(.*?)((?: [+-] \S+)*)$/.exec(text) ?? [];
    const [, bound, one = '', other = ''] = /^(max|min)\((.*), (.*)\)$/.exec(base) ?? [];
    let instant = bound
      ? Math[bound === 'max' ? 'max' : 'min'](this.instant(one, scope), this.instant(other, scope))
      : valueAt<number>(scope, base);
    for (const [, sign, amount = ''] of offsets.matchAll(/ ([+-]) (\S+)/g)) {
      const [first = 0, last] = amount.split('..').map(durationOf);
      if (last !== undefined) instant = plan.between(instant + first, instant + last);
      else instant += sign === '+' ? first : -first;
    }
    return instant;
  }

  /** Resolves the names in a part of a body. Merges objects under `...` into their parent. */
  #contentOf(past: TimeMachine, template: unknown, scope: Scope): unknown {
    if (Array.isArray(template)) return template.map((each) => this.#contentOf(past, each, scope));
    if (typeof template !== 'object' || template === null) return linkOf(filled(template, scope));
    if ('offer' in template) return this.#find(past, template as Lookup, scope).url;
    const content: Scope = {};
    for (const [key, value] of Object.entries(template)) {
      const part = this.#contentOf(past, value, scope);
      if (key === '...') Object.assign(content, ...Object.values(Object(part)));
      else content[key] = part;
    }
    return content;
  }

  /** Finds an object in an API list, with the rights of the account's creator. */
  #find(past: TimeMachine, { list, name, offer, query = '' }: Lookup, scope: Scope): Representation {
    const account = valueAt<Account>(scope, 'account');
    const offers = `/api/${account.prefix}-${offer}/?settings_uuid=${uuidIn(account.settings)}${query}`;
    const path = String(filled(list ?? offers, scope));
    const wanted = filled(name, scope);
    const item = this.#list(past, path, account).find((each) => wanted === undefined || each.name === wanted);
    if (!item) throw new Error(`${path} has no ${wanted}`);
    return item;
  }

  #list(past: TimeMachine, path: string, { by }: Account): readonly Representation[] {
    const items = this.#lists.get(path) ?? past.list(path, by);
    this.#lists.set(path, items);
    return items;
  }
}

/** Resolves a path. Finds list items by position or name. Throws if the value is missing, unless the path ends with `?`. */
function valueAt<T>(scope: Scope, path: string): T {
  const keys = path.replace(/\?$/, '').split('/');
  const value = keys.reduce<unknown>((parent, key) => {
    const isName = Array.isArray(parent) && !/^\d+$/.test(key);
    return isName ? parent.find(({ name }) => name === key) : Reflect.get(Object(parent), key);
  }, scope);
  if (value === undefined && !path.endsWith('?')) throw new Error(`a script names ${path}, which does not exist`);
  return value as T;
}

/** Fills the paths in a text. Returns the value itself if the text is only a path. */
function filled(template: unknown, scope: Scope): unknown {
  if (typeof template !== 'string') return template;
  const [, path] = /^\{([^{}]+)\}$/.exec(template) ?? [];
  if (path !== undefined) return valueAt(scope, path);
  return template.replace(/\{([^{}]+)\}/g, (_, name) => String(linkOf(valueAt(scope, name))));
}

const linkOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'url' in value ? value.url : value;

/** Returns the uuid in a link. */
const uuidIn = (link: string): string => present(link.split('/').at(-2));

function durationOf(text: string): number {
  const [, amount, unit = ''] = /^([\d.]+)([smhd])$/.exec(text) ?? [];
  return Number(amount) * present(units[unit]);
}
