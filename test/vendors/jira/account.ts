import type { ApiResponse, Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { Jira } from './stand-in.ts';

const secret = 'hush hush, little baby';

/** Starts a JIRA with an existing project. */
export const withOldProject: typeof Jira.start = async (now, identity) => {
  const vendor = await Jira.start(now, identity);
  vendor.contents.addProject({ key: 'OLD', name: 'From before' });
  return vendor;
};

/** A project whose administrator uses a JIRA with the existing project OLD. */
export class JiraAccount extends VendorAccount<Jira> implements FaultyAccount {
  static open = (options: AccountOptions = {}): Promise<JiraAccount> =>
    opened(options, withOldProject, (...parts) => new JiraAccount('jira', ...parts));

  override connect(fields: Record<string, unknown> = {}): Promise<void> {
    return super.connect({ webhook_secret: secret, ...fields });
  }

  get credentials(): Record<string, unknown> {
    const [[username, password] = []] = this.vendor.passwords;
    return { username, password };
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { passwords, server, contents: setup } = this.vendor;
    return {
      secrets: [passwords.get('tenantry') ?? '', secret],
      injectFault: (route, fault, times) => server.injectFault(route, fault, times),
      take: () => server.take(),
      machines: () => [...setup.projects.keys()].filter((key) => key !== 'OLD'),
      removeMachine: (key) => void setup.projects.delete(key),
      replaceCredentials: () => {
        passwords.set('tenantry', 'another-password');
        return { password: 'another-password' };
      },
    };
  }

  /** Creates a project. Its key is the name in capitals and digits. */
  order = async (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('jira-projects', {
      name,
      key: name.toUpperCase().replace(/[^A-Z0-9]/g, ''),
      template: await this.propertyLink('project-templates', 'Scrum software development'),
      service_project_link: this.link.url,
      ...fields,
    });

  orderIssue = async (project: Json, summary: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('jira-issues', {
      jira_project: project.url,
      summary,
      type: await this.propertyLink('issue-types', 'Task'),
      priority: await this.propertyLink('priorities', 'Medium'),
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

  /** Sends the webhook of a change at JIRA, and runs the resulting job. */
  async hook(webhookEvent: string, key: string, comment?: string): Promise<ApiResponse<Json>> {
    const response = await this.fixture.anonymous.post(
      `/api/jira-webhook-receiver/?secret=${encodeURIComponent(secret)}`,
      { webhookEvent, issue: { key }, ...(comment !== undefined && { comment: { id: comment } }) },
    );
    await this.advance(3);
    return response;
  }
}
