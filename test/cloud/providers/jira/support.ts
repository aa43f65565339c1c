import type { Fixture, Json } from '../../../support/fixture.ts';
import { createPersonas, type Personas } from '../../../support/personas.ts';
import { type SimulatedService, simulatedService, work } from '../../../support/simulated.ts';

/** A customer with all personas, its JIRA service, and its existing JIRA project WEB. */
export interface Jira extends Personas, SimulatedService {
  readonly fixture: Fixture;
  readonly web: Json;
  /** Creates a JIRA project in the customer's project and runs its job. */
  readonly jiraProject: (key: string, fields?: object) => Promise<Json>;
  /** Returns the link of an issue type or priority by name. */
  readonly type: (name: string) => Promise<string>;
  readonly priority: (name: string) => Promise<string>;
  /** Creates an issue as a user (default: the owner) and runs its job. */
  readonly issue: (fields?: object, by?: keyof Personas['clients']) => Promise<Json>;
}

/** Creates the personas and a simulated JIRA in their project, with these options of its settings. */
export async function startJira(fixture: Fixture, options: Readonly<Record<string, unknown>> = {}): Promise<Jira> {
  const people = await createPersonas(fixture);
  const service = await simulatedService(fixture, 'jira', people, options);
  const named = async (path: string, name: string): Promise<string> =>
    (
      await fixture.staff.get(
        `/api/${path}/?settings_uuid=${service.settings.uuid}&name_exact=${encodeURIComponent(name)}`,
      )
    ).body[0].url;
  const created = async ({ body, status }: { body: Json; status: number }): Promise<Json> => {
    if (status !== 201) throw new Error(JSON.stringify(body));
    await work(fixture);
    return (await fixture.staff.get(body.url)).body;
  };
  const jiraProject = async (key: string, fields = {}): Promise<Json> =>
    created(
      await fixture.staff.post('/api/jira-projects/', {
        service_project_link: service.link.url,
        name: `Project ${key}`,
        key,
        template: await named('jira-project-templates', 'Task management'),
        ...fields,
      }),
    );
  const web = await jiraProject('WEB');
  fixture.events();
  const type = (name: string): Promise<string> => named('jira-issue-types', name);
  const priority = (name: string): Promise<string> => named('jira-priorities', name);
  const [task, medium] = [await type('Task'), await priority('Medium')];
  const issue = async (fields = {}, by: keyof Personas['clients'] = 'owner'): Promise<Json> =>
    created(
      await people.clients[by].post('/api/jira-issues/', {
        jira_project: web.url,
        type: task,
        priority: medium,
        summary: 'Broken',
        ...fields,
      }),
    );
  return { fixture, ...people, ...service, web, jiraProject, type, priority, issue };
}
