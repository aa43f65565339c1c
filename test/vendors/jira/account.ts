import type { Answer, Json } from '../../support/fixture.ts';
import { type AccountOptions, people, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { Jira } from './stand-in.ts';

const secret = 'hush hush, little baby';

/** A project whose administrator works with a JIRA, which holds the project OLD from before. */
export class JiraAccount extends VendorAccount<Jira> implements FaultyAccount {
  /** Starts both servers; the account is connected and synchronised unless told otherwise. */
  static async open(options: AccountOptions = {}): Promise<JiraAccount> {
    const known = await people(options);
    const vendor = await Jira.start(() => known.fixture.clock.now() / 1000, options.identity);
    vendor.world.addProject({ key: 'OLD', name: 'From before' });
    const account = new JiraAccount('jira', options.backend ?? 'driver', vendor, known);
    if (options.isConnected !== false) await account.connect({ webhook_secret: secret });
    known.fixture.events();
    vendor.server.take();
    return account;
  }

  get credentials(): Record<string, unknown> {
    const [[username, password] = []] = this.vendor.passwords;
    return { username, password };
  }

  /** The vendor's side, as the table of faults asks for it. */
  get faulty(): FaultyAccount['faulty'] {
    const { passwords, server, world } = this.vendor;
    return {
      secret: passwords.get('tenantry') ?? '',
      mishap: (route, mishap, times) => server.mishap(route, mishap, times),
      take: () => server.take(),
      machines: () => [...world.projects.keys()].filter((key) => key !== 'OLD'),
      vanish: (key) => void world.projects.delete(key),
      replaceCredentials: () => {
        passwords.set('tenantry', 'another-password');
        return { password: 'another-password' };
      },
    };
  }

  /** The link of what the JIRA offers, by its name. */
  offer = async (path: string, name: string): Promise<string> => {
    const query = `settings_uuid=${this.service.settings_uuid}&name_exact=${encodeURIComponent(name)}`;
    return (await this.fixture.staff.get(`/api/jira-${path}/?${query}`)).body[0]?.url;
  };

  /** Orders a project; its key is the name in capitals and digits. */
  order = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('jira-projects', {
      name,
      key: name.toUpperCase().replace(/[^A-Z0-9]/g, ''),
      template: await this.offer('project-templates', 'Scrum software development'),
      service_project_link: this.link.url,
      ...fields,
    });

  orderIssue = async (project: Json, summary: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('jira-issues', {
      jira_project: project.url,
      summary,
      type: await this.offer('issue-types', 'Task'),
      priority: await this.offer('priorities', 'Medium'),
      ...fields,
    });

  orderComment = (issue: Json, message: string): Promise<Json> =>
    this.create('jira-comments', { issue: issue.url, message });

  /** Uploads a file to an issue. */
  async orderAttachment(issue: Json, name: string, content: Buffer): Promise<Json> {
    const form = new FormData();
    form.set('issue', issue.url);
    form.set('file', new Blob([new Uint8Array(content)]), name);
    const { body, status } = await this.alice.send('POST', '/api/jira-attachments/', form);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  }

  /** What the JIRA sends when something has changed, with the job that follows. */
  async hook(webhookEvent: string, key: string, comment?: string): Promise<Answer<Json>> {
    const answer = await this.fixture.anonymous.post(
      `/api/jira-webhook-receiver/?secret=${encodeURIComponent(secret)}`,
      { webhookEvent, issue: { key }, ...(comment !== undefined && { comment: { id: comment } }) },
    );
    await this.pass(3);
    return answer;
  }
}
