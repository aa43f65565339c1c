import type { Json } from '../../support/fixture.ts';
import { checkNames, type RestCall, RestRejection, type RestRoutes } from '../rest.ts';
import type { Project, Setup, User } from './setup.ts';

/* The calls of JIRA's REST API 2 about projects and their properties. */

/** What routes need from the stand-in. */
export interface Site {
  readonly state: Setup;
  readonly url: () => string;
  readonly largestPage: () => number;
  /** The caller. */
  readonly caller: (call: RestCall) => User;
  readonly shownUser: (user: User) => Json;
}

/** A rejection in JIRA's form. */
export const wrong = (errorMessages: readonly string[], errors: Readonly<Record<string, string>> = {}): object => ({
  errorMessages,
  errors,
});

/** Rejects unknown parameters and members of the body, and missing ones. */
export function forbidUnknown(
  { json, query }: RestCall,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  const input = { ...Object.fromEntries(query), ...json };
  const { missing, unknown } = checkNames(input, { required, optional });
  if (unknown.length > 0)
    throw new RestRejection(400, wrong([`Unrecognized field "${unknown[0]}", not marked as ignorable`]));
  if (missing.length > 0)
    throw new RestRejection(400, wrong([], Object.fromEntries(missing.map((name) => [name, `${name} is required`]))));
}

const further = [
  'projectTemplateKey',
  'description',
  'assigneeType',
  'permissionScheme',
  'notificationScheme',
  'issueSecurityScheme',
  'categoryId',
  'url',
];

export function projectRoutes({ caller, shownUser, url, state: setup }: Site): RestRoutes {
  const self = (path: string): string => `${url()}/rest/api/2/${path}`;
  const icon = (name: string): string => `${url()}/images/icons/${name.toLowerCase()}.svg`;

  const projectOf = ({ params: { key = '' } }: RestCall): Project => {
    const project = setup.projects.get(key) ?? [...setup.projects.values()].find(({ id }) => id === key);
    if (!project) throw new RestRejection(404, wrong([`No project could be found with key '${key}'.`]));
    return project;
  };

  const listed = ({ id, key, name, template }: Project): Json => ({
    self: self(`project/${id}`),
    id,
    key,
    name,
    projectTypeKey: template.type,
  });

  const displayed = (project: Project): Json => ({
    ...listed(project),
    description: project.description,
    lead: shownUser(project.lead),
    issueTypes: setup
      .typesOf(project)
      .map((type) => ({
        ...type,
        self: self(`issuetype/${type.id}`),
        description: `A ${type.name.toLowerCase()}.`,
        iconUrl: icon(type.name),
      })),
  });

  return {
    'GET /api/2/serverInfo': () => ({
      json: { baseUrl: url(), version: '8.20.30', versionNumbers: [8, 20, 30], deploymentType: 'Server' },
    }),
    'GET /api/2/myself': (call) => ({ json: shownUser(caller(call)) }),
    'GET /api/2/permissionscheme': () => ({
      json: { permissionSchemes: [{ id: 0, name: 'Default Permission Scheme' }] },
    }),
    'GET /api/2/issuesecurityschemes': () => ({ json: { issueSecuritySchemes: [] } }),
    'GET /api/2/projectCategory': () => ({ json: [] }),
    'GET /api/2/priority': () => ({
      json: setup.priorities.map((priority) => ({
        ...priority,
        self: self(`priority/${priority.id}`),
        description: `${priority.name} of all.`,
        iconUrl: icon(priority.name),
      })),
    }),

    'GET /project-templates/latest/templates': () => ({
      json: {
        projectTemplatesGroupedByType: ['software', 'business'].map((type) => ({
          projectTypeBean: { projectTypeKey: type },
          projectTemplates: setup.templates
            .filter((template) => template.type === type)
            .map(({ key, name }) => ({
              name,
              description: `For ${name.toLowerCase()}.`,
              iconUrl: icon(name),
              projectTypeKey: type,
              projectTemplateModuleCompleteKey: key,
            })),
        })),
      },
    }),

    'GET /api/2/project': () => ({ json: [...setup.projects.values()].map(listed) }),

    'POST /api/2/project': (call) => {
      forbidUnknown(call, ['key', 'name', 'projectTypeKey', 'lead'], further);
      const { description, key, lead, name, projectTemplateKey, projectTypeKey } = call.json;
      const errors: Record<string, string> = {};
      const same = setup.projects.get(key);
      if (same) errors.projectKey = `Project '${same.name}' uses this project key.`;
      if (!/^[A-Z][A-Z0-9_]+$/.test(key))
        errors.projectKey =
          'Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters.';
      if ([...setup.projects.values()].some((project) => project.name === name))
        errors.projectName = 'A project with that name already exists.';
      if (!setup.users.some((user) => user.name === lead))
        errors.projectLead = 'You must specify a valid project lead.';
      const template = setup.templates.find(
        (known) => known.key === (projectTemplateKey ?? known.key) && known.type === projectTypeKey,
      );
      if (!template) errors.projectTemplateKey = 'The project template does not match the project type.';
      if (Object.keys(errors).length > 0 || !template) throw new RestRejection(400, wrong([], errors));
      const { id } = setup.addProject({ key, name, description, template });
      return { status: 201, json: { self: self(`project/${id}`), id: Number(id), key } };
    },

    'GET /api/2/project/:key': (call) => ({ json: displayed(projectOf(call)) }),

    'PUT /api/2/project/:key': (call) => {
      forbidUnknown(call, [], ['name', 'lead', ...further]);
      const project = projectOf(call);
      if ([...setup.projects.values()].some((other) => other !== project && other.name === call.json.name))
        throw new RestRejection(400, wrong([], { projectName: 'A project with that name already exists.' }));
      Object.assign(project, call.json);
      return { json: displayed(project) };
    },

    'DELETE /api/2/project/:key': (call) => {
      setup.removeProject(projectOf(call));
      return { status: 204 };
    },
  };
}
