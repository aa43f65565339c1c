import { day, hour } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import { type Account, type Accounts, Offers } from './accounts.ts';
import type { Scenario } from './memberships.ts';
import type { TimeMachine } from './time-machine.ts';
import { ownerOf, type Person, type Project } from './world.ts';

/** A resource of the demonstration world. */
export interface DemoResource {
  readonly account: Account;
  readonly project: Project;
  /** Segment of its path. */
  readonly path: string;
  readonly name: string;
  readonly isMachine: boolean;
  /** When it is made, and when it is deleted. */
  readonly made: number;
  gone: number;
  /** Whether nothing more is planned for it than to run. */
  rests: boolean;
  /** Its link, once it is made. */
  url: string;
}

interface NewThing {
  readonly account: Account;
  readonly project: Project;
  readonly path: string;
  readonly name: string;
  readonly at: number;
  readonly isMachine?: boolean;
  /** Who makes it; default: the owner of the customer. */
  readonly by?: Person;
  /** What its kind needs besides a name and a link. */
  readonly fields: (past: TimeMachine) => Readonly<Record<string, unknown>>;
}

const environments = ['prod', 'prod', 'stage', 'test'] as const;
const teams = ['core', 'data', 'web'] as const;

/** All resources, and the ways to plan what happens to them. */
export class Inventory {
  readonly things: DemoResource[] = [];
  readonly offers = new Offers();
  readonly #keys = new Map<Person, { url: string }>();

  constructor(
    readonly story: Scenario,
    readonly accounts: Accounts,
  ) {
    this.#planKeys();
  }

  /** The time in which resources of an account come to a project. */
  era({ begins }: Account, project: Project): readonly [from: number, until: number] {
    return [Math.max(begins, project.begins) + 3 * day, this.story.plan.latest - 2 * day];
  }

  /** Plans a resource with its tags. */
  make({ account, at, by, fields, isMachine = false, name, path, project }: NewThing): DemoResource {
    const { plan, seed } = this.story;
    const thing: DemoResource = {
      account,
      project,
      path,
      name,
      isMachine,
      made: at,
      gone: Number.POSITIVE_INFINITY,
      rests: true,
      url: '',
    };
    const tags = [
      `env:${seed.pick(environments)}`,
      `team:${seed.pick(teams)}`,
      ...(seed.below(4) === 0 ? ['backup:daily'] : []),
    ];
    plan.at(at, (past) => {
      const body = {
        service_project_link: this.offers.linkTo(past, account, project),
        name,
        tags: seed.below(10) === 0 ? [] : tags,
        ...fields(past),
      };
      thing.url = past.send('POST', `/api/${path}/`, { by: by ?? ownerOf(project), body }).url;
    });
    this.things.push(thing);
    return thing;
  }

  /** Plans an action; the provider has finished what was planned an hour before. */
  act(
    thing: DemoResource,
    at: number,
    action: string,
    body: (past: TimeMachine) => Readonly<Record<string, unknown>> = () => ({}),
  ): void {
    thing.rests = false;
    this.story.plan.at(
      at,
      (past) => void past.send('POST', `${thing.url}${action}/`, { by: ownerOf(thing.project), body: body(past) }),
    );
  }

  remove(thing: DemoResource, at: number): void {
    thing.rests = false;
    thing.gone = at;
    this.story.plan.at(at, (past) => void past.send('DELETE', thing.url, { by: ownerOf(thing.project) }));
  }

  /** A property of the thing's account. */
  offered(past: TimeMachine, account: Account, kind: string, name: string, query?: string): string {
    return this.offers.find(past, account, `${account.prefix}-${kind}`, name, query);
  }

  /** The key that a project's owner puts into machines. */
  keyOf(project: Project): string {
    return this.#keys.get(ownerOf(project))?.url ?? '';
  }

  #planKeys(): void {
    const { plan, seed, world } = this.story;
    for (const { begins, facts, people } of world.organisations) {
      const owner = present(people[0]);
      const key = { url: '' };
      const line = seed.publicKey(`deploy@${facts.domain}`);
      this.#keys.set(owner, key);
      plan.at(begins + 30 * hour, (past) => {
        key.url = past.send('POST', '/api/keys/', { by: owner, body: { public_key: line } }).url;
      });
    }
  }
}

/** Names as providers like them. */
export const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
