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

/** Copies values to an object; returns whether that changed anything. */
function changes<T extends object>(object: T, values: Partial<T>): boolean {
  const before = JSON.stringify(object);
  Object.assign(object, values);
  return JSON.stringify(object) !== before;
}

export function createCustomer(attempt: Attempt): Reply {
  const { setup, caller, call } = attempt;
  attempt.need(inCustomer(setup, caller, ''));
  const values = attempt.read(customerFields, required(attempt, 'name')) as unknown as Omit<Customer, 'abbreviation'>;
  const id = `c${call.at}`;
  setup.customers.set(id, { abbreviation: '', ...values, id });
  attempt.happens('customer_creation_succeeded', id);
  return { status: 201, created: id, object: representation(setup, caller, 'customers', id) };
}

export function updateCustomer(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const customer = setup.customers.get(attempt.see('customers')) as Customer;
  attempt.need(inCustomer(setup, caller, customer.id));
  const values = attempt.read(customerFields, required(attempt, 'name'));
  if (changes(customer, values)) attempt.happens('customer_update_succeeded', customer.id);
  return { status: 200, object: representation(setup, caller, 'customers', customer.id) };
}

export function deleteCustomer(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const id = attempt.see('customers');
  attempt.need(inCustomer(setup, caller, id));
  if (projectsOf(setup, id).length > 0) conflict('Cannot delete organization with existing projects');
  forgetRoles(attempt, ({ scope }) => scope === id);
  setup.customers.delete(id);
  attempt.happens('customer_deletion_succeeded', id);
  return { status: 204 };
}

export function createProject(attempt: Attempt): Reply {
  const { setup, caller, call } = attempt;
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as unknown as Omit<
    Project,
    'description'
  >;
  attempt.need(inCustomer(setup, caller, values.customer));
  requireQuotas(attempt, values.customer, { nc_project_count: 1 });
  const id = `p${call.at}`;
  setup.projects.set(id, { description: '', ...values, id });
  attempt.happens('project_creation_succeeded', id);
  return { status: 201, created: id, object: representation(setup, caller, 'projects', id) };
}

export function updateProject(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const project = setup.projects.get(attempt.see('projects')) as Project;
  attempt.need(inProject(setup, caller, project.id));
  const values = attempt.read(projectFields, required(attempt, 'name', 'customer')) as Partial<Project>;
  const target = values.customer ?? project.customer;
  if (target !== project.customer) {
    attempt.need(inCustomer(setup, caller, target));
    const isEndless = [project.customer, target].every((customer) => ownsUntil(setup, caller, customer, null));
    if (!caller.staff && !isEndless) forbidden();
    const own = new Set(
      activeRoles(setup)
        .filter(({ scope }) => scope === project.id)
        .map(({ user }) => user),
    );
    const strangers = [...own].filter((user) => !members(setup, target).includes(user));
    requireQuotas(attempt, target, { nc_project_count: 1, nc_user_count: strangers.length });
  }
  if (changes(project, values)) attempt.happens('project_update_succeeded', project.id);
  return { status: 200, object: representation(setup, caller, 'projects', project.id) };
}

export function deleteProject(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(setup, caller, id));
  forgetRoles(attempt, ({ scope }) => scope === id);
  setup.projects.delete(id);
  attempt.happens('project_deletion_succeeded', id);
  return { status: 204 };
}

/** No certification exists here, so that only the empty set is valid. */
export function updateCertifications(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const id = attempt.see('projects');
  attempt.need(inProject(setup, caller, id));
  attempt.read({ certifications: (value) => value }, ['certifications']);
  return { status: 200, object: representation(setup, caller, 'projects', id) };
}

const limit: Reader = (value) => {
  if (value === null) return bad('This field may not be null.');
  return typeof value === 'number' ? value : bad('A valid number is required.');
};

export function updateQuota(attempt: Attempt): Reply {
  const { setup, caller } = attempt;
  const id = attempt.see('quotas');
  attempt.need(
    quotaScope(setup, caller, id),
    `${attempt.right} of ${setup.customers.has(scopeOf(id)) ? 'customers' : 'projects'}`,
  );
  const { limit: requests } = attempt.read({ limit }) as { limit?: number };
  if (requests !== undefined && requests !== -1 && requests < usageOf(setup, id))
    reject(400, { limit: ['Current quota usage exceeds new limit.'] });
  if (requests !== undefined) setup.limits.set(id, requests);
  return { status: 200, object: representation(setup, caller, 'quotas', id) };
}
