/** Customers and projects and their quotas (core.md 6, 7, events.md 2). */
import {
  activeRoles,
  type Customer,
  inCustomer,
  inProject,
  members,
  ownsUntil,
  type Project,
  projectsOf,
  quotaScope,
  scopeOf,
  usageOf,
} from '../model.ts';
import { type Answer, type Attempt, bad, conflict, forbidden, link, type Reader, refuse, text } from './attempt.ts';
import { forgetRoles, requireQuotas } from './roles.ts';
import { shown } from './shown.ts';

const name = text(150, { blank: false });
const customerFields = { name, abbreviation: text(12) };
const projectFields = { name, customer: link('customers'), description: text(500) };

const required = (attempt: Attempt, ...names: readonly string[]): readonly string[] =>
  attempt.call.method === 'PATCH' ? [] : names;

/** Lays values over an object; answers whether that changed anything. */
function changes<T extends object>(object: T, values: Partial<T>): boolean {
  const before = JSON.stringify(object);
  Object.assign(object, values);
  return JSON.stringify(object) !== before;
}

export function createCustomer(attempt: Attempt): Answer {
  const { world, caller, call } = attempt;
  attempt.need(inCustomer(world, caller, ''));
  const values = attempt.read(customerFields, required(attempt, 'name')) as unknown as Omit<Customer, 'abbreviation'>;
  const id = `c${call.at}`;
  world.customers.set(id, { abbreviation: '', ...values, id });
  attempt.happens('customer_creation_succeeded', id);
  return { status: 201, made: id, object: shown(world, caller, 'customers', id) };
}

export function updateCustomer(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const customer = world.customers.get(attempt.see('customers')) as Customer;
  attempt.need(inCustomer(world, caller, customer.id));
  const values = attempt.read(customerFields, required(attempt, 'name'));
  if (changes(customer, values)) attempt.happens('customer_update_succeeded', customer.id);
  return { status: 200, object: shown(world, caller, 'customers', customer.id) };
}

export function deleteCustomer(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const id = attempt.see('customers');
  attempt.need(inCustomer(world, caller, id));
  if (projectsOf(world, id).length > 0) conflict('Cannot delete organization with existing projects');
  forgetRoles(attempt, ({ scope }) => scope === id);
  world.customers.delete(id);
  attempt.happens('customer_deletion_succeeded', id);
  return { status: 204 };
}

export function createProject(attempt: Attempt): Answer {
  const { world, caller, call } = attempt;
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as unknown as Omit<
    Project,
    'description'
  >;
  attempt.need(inCustomer(world, caller, values.customer));
  requireQuotas(attempt, values.customer, { nc_project_count: 1 });
  const id = `p${call.at}`;
  world.projects.set(id, { description: '', ...values, id });
  attempt.happens('project_creation_succeeded', id);
  return { status: 201, made: id, object: shown(world, caller, 'projects', id) };
}

export function updateProject(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const project = world.projects.get(attempt.see('projects')) as Project;
  attempt.need(inProject(world, caller, project.id));
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as Partial<Project>;
  const target = values.customer ?? project.customer;
  if (target !== project.customer) {
    attempt.need(inCustomer(world, caller, target));
    const isEndless = [project.customer, target].every((customer) => ownsUntil(world, caller, customer, null));
    if (!caller.staff && !isEndless) forbidden();
    const own = new Set(
      activeRoles(world)
        .filter(({ scope }) => scope === project.id)
        .map(({ user }) => user),
    );
    const strangers = [...own].filter((user) => !members(world, target).includes(user));
    requireQuotas(attempt, target, { nc_project_count: 1, nc_user_count: strangers.length });
  }
  if (changes(project, values)) attempt.happens('project_update_succeeded', project.id);
  return { status: 200, object: shown(world, caller, 'projects', project.id) };
}

export function deleteProject(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(world, caller, id));
  forgetRoles(attempt, ({ scope }) => scope === id);
  world.projects.delete(id);
  attempt.happens('project_deletion_succeeded', id);
  return { status: 204 };
}

/** No certification exists here, so that the only set of them is the empty one. */
export function updateCertifications(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(world, caller, id));
  attempt.read({ certifications: (value) => value }, ['certifications']);
  return { status: 200, object: shown(world, caller, 'projects', id) };
}

const limit: Reader = (value) => {
  if (value === null) return bad('This field may not be null.');
  return typeof value === 'number' ? value : bad('A valid number is required.');
};

export function updateQuota(attempt: Attempt): Answer {
  const { world, caller } = attempt;
  const id = attempt.see('quotas');
  attempt.need(
    quotaScope(world, caller, id),
    `${attempt.right} of ${world.customers.has(scopeOf(id)) ? 'customers' : 'projects'}`,
  );
  const { limit: asked } = attempt.read({ limit }) as { limit?: number };
  if (asked !== undefined && asked !== -1 && asked < usageOf(world, id))
    refuse(400, { limit: ['Current quota usage exceeds new limit.'] });
  if (asked !== undefined) world.limits.set(id, asked);
  return { status: 200, object: shown(world, caller, 'quotas', id) };
}
