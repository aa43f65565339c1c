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
import { type Attempt, bad, conflict, forbidden, link, type Reader, type Reply, reject, text } from './attempt.ts';
import { forgetRoles, requireQuotas } from './roles.ts';
import { representation } from './shown.ts';

const name = text(150, { blank: false });
const customerFields = { name, abbreviation: text(12) };
const projectFields = { name, customer: link('customers'), description: text(500) };

const required = (attempt: Attempt, ...names: readonly string[]): readonly string[] =>
  attempt.call.method === 'PATCH' ? [] : names;

/** Copies values to an object; returns whether the object changed. */
function changes<T extends object>(object: T, values: Partial<T>): boolean {
  const before = JSON.stringify(object);
  Object.assign(object, values);
  return JSON.stringify(object) !== before;
}

export function createCustomer(attempt: Attempt): Reply {
  const { state, caller, call } = attempt;
  attempt.need(inCustomer(state, caller, ''));
  const values = attempt.read(customerFields, required(attempt, 'name')) as unknown as Omit<Customer, 'abbreviation'>;
  const id = `c${call.at}`;
  state.customers.set(id, { abbreviation: '', ...values, id });
  attempt.happens('customer_creation_succeeded', id);
  return { status: 201, created: id, object: representation(state, caller, 'customers', id) };
}

export function updateCustomer(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const customer = state.customers.get(attempt.see('customers')) as Customer;
  attempt.need(inCustomer(state, caller, customer.id));
  const values = attempt.read(customerFields, required(attempt, 'name'));
  if (changes(customer, values)) attempt.happens('customer_update_succeeded', customer.id);
  return { status: 200, object: representation(state, caller, 'customers', customer.id) };
}

export function deleteCustomer(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('customers');
  attempt.need(inCustomer(state, caller, id));
  if (projectsOf(state, id).length > 0) conflict('Cannot delete organization with existing projects');
  forgetRoles(attempt, ({ scope }) => scope === id);
  state.customers.delete(id);
  attempt.happens('customer_deletion_succeeded', id);
  return { status: 204 };
}

export function createProject(attempt: Attempt): Reply {
  const { state, caller, call } = attempt;
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as unknown as Omit<
    Project,
    'description'
  >;
  attempt.need(inCustomer(state, caller, values.customer));
  requireQuotas(attempt, values.customer, { nc_project_count: 1 });
  const id = `p${call.at}`;
  state.projects.set(id, { description: '', ...values, id });
  attempt.happens('project_creation_succeeded', id);
  return { status: 201, created: id, object: representation(state, caller, 'projects', id) };
}

export function updateProject(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const project = state.projects.get(attempt.see('projects')) as Project;
  attempt.need(inProject(state, caller, project.id));
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as Partial<Project>;
  const target = values.customer ?? project.customer;
  if (target !== project.customer) {
    attempt.need(inCustomer(state, caller, target));
    const isEndless = [project.customer, target].every((customer) => ownsUntil(state, caller, customer, null));
    if (!caller.staff && !isEndless) forbidden();
    const own = new Set(
      activeRoles(state)
        .filter(({ scope }) => scope === project.id)
        .map(({ user }) => user),
    );
    const strangers = [...own].filter((user) => !members(state, target).includes(user));
    requireQuotas(attempt, target, { nc_project_count: 1, nc_user_count: strangers.length });
  }
  if (changes(project, values)) attempt.happens('project_update_succeeded', project.id);
  return { status: 200, object: representation(state, caller, 'projects', project.id) };
}

export function deleteProject(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(state, caller, id));
  forgetRoles(attempt, ({ scope }) => scope === id);
  state.projects.delete(id);
  attempt.happens('project_deletion_succeeded', id);
  return { status: 204 };
}

/** No certifications exist here, so only the empty set is valid. */
export function updateCertifications(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(state, caller, id));
  attempt.read({ certifications: (value) => value }, ['certifications']);
  return { status: 200, object: representation(state, caller, 'projects', id) };
}

const limit: Reader = (value) => {
  if (value === null) return bad('This field may not be null.');
  return typeof value === 'number' ? value : bad('A valid number is required.');
};

export function updateQuota(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('quotas');
  attempt.need(
    quotaScope(state, caller, id),
    `${attempt.right} of ${state.customers.has(scopeOf(id)) ? 'customers' : 'projects'}`,
  );
  const { limit: requests } = attempt.read({ limit }) as { limit?: number };
  if (requests !== undefined && requests !== -1 && requests < usageOf(state, id))
    reject(400, { limit: ['Current quota usage exceeds new limit.'] });
  if (requests !== undefined) state.limits.set(id, requests);
  return { status: 200, object: representation(state, caller, 'quotas', id) };
}
