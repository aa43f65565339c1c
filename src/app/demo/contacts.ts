import { linkTemplateProblem } from '../../accounts/invitations/link-template.ts';
import type { App } from '../../kernel/app.ts';
import { hour, minute } from '../../kernel/clock.ts';
import { sql } from '../../kernel/db/sql.ts';
import { present } from '../../kernel/present.ts';
import type { Scenario } from './memberships.ts';
import { ownerOf } from './world.ts';

/** Plans whom customers invite, and where people have events sent. */
export function planContacts(story: Scenario): void {
  invitations(story);
  hooks(story);
}

/** Invitations that are pending, canceled, and expired by now where the lifetime is not longer than usual. */
function invitations({ plan, world }: Scenario): void {
  const [first, second] = world.organisations.map(({ projects }) => present(projects[0]));
  const asked = [
    { project: present(first), role: 'manager', email: 'sigrid.lund@partners.example.net', days: 1 },
    { project: present(first), role: 'support', email: 'tom.baker@partners.example.net', days: 3 },
    { project: present(second), role: 'admin', email: 'ines.duarte@partners.example.net', days: 2, isCanceled: true },
    { project: present(second), role: 'support', email: 'karl.berg@partners.example.net', days: 24 },
  ] as const;
  for (const { days, email, project, role, ...fate } of asked)
    plan.at(plan.daysAgo(days + 1), (past) => {
      const { config } = past.app;
      const link_template = `${config.base_url ?? 'https://console.tenantry.example'}/#/invitation/{uuid}/`;
      // Where invitations lead to certain hosts only, none of which is known to have a page for them, there are none.
      if (linkTemplateProblem(link_template, config) !== undefined) return;
      const by = ownerOf(project);
      const body = { link_template, email, project: project.url, project_role: role };
      const { url } = past.send('POST', '/api/user-invitations/', { by, body });
      if ('isCanceled' in fate) past.send('POST', `${url}cancel/`, { by });
    });
}

/** Hooks of the last minutes, so that they have few deliveries. Their hosts never exist (RFC 6761). */
function hooks({ plan, world }: Scenario): void {
  const owner = present(world.organisations[0]?.people[0]);
  const staff = present(world.team[0]);
  plan.at(plan.now - 3 * minute, (past) => {
    past.send('POST', '/api/hooks-web/', {
      by: owner,
      body: { destination_url: 'https://hooks.tenantry.invalid/events', event_groups: ['projects', 'ssh'] },
    });
    past.send('POST', '/api/hooks-web/', {
      by: owner,
      body: {
        destination_url: 'https://chat.tenantry.invalid/incoming',
        event_types: ['resource_creation_failed', 'resource_stop_failed'],
        is_active: false,
      },
    });
    past.send('POST', '/api/hooks-email/', {
      by: staff,
      body: { email: staff.fields.email, event_groups: ['customers'] },
    });
  });
}

/** Takes the mails of the past as sent: nothing is mailed to people who do not exist. */
export function settlePastMails({ db }: App, now: number): void {
  db.run(sql`
    UPDATE invitation_mail SET status = 'delivered', attempts = 1, next_attempt = NULL, finished = created, secret = NULL
    WHERE status = 'pending' AND created <= ${now - hour}`);
}
