import { present } from '../../../kernel/present.ts';
import type { BackendObject, PlainValues } from '../../catalogue/driver.ts';
import type { VendorGroup, VendorProject } from './api.ts';

/* What GitLab tells, under our names. */

const visibilities: Readonly<Record<number, string>> = { 0: 'private', 10: 'internal', 20: 'public' };

/** What GitLab calls a level of visibility. */
export const visibilityOf = (level: unknown): string => present(visibilities[Number(level)]);

/** The level of what GitLab calls it; undefined for one that nobody knows. */
function levelOf(visibility: string): number | undefined {
  const existing = Object.entries(visibilities).find(([, name]) => name === visibility);
  return existing && Number(existing[0]);
}

/** What a resource gets of its group at the GitLab of this address. */
export function groupValues(group: VendorGroup, site: string): PlainValues {
  const { description, name, web_url: url } = group;
  const path = pathOf(group);
  return { name, description: description ?? '', path, web_url: url || `${site}/groups/${path}` };
}

/** The path of a group, with those of the groups that it is in. */
export const pathOf = ({ full_path: fullPath, path }: VendorGroup): string => fullPath || path;

/** What a resource gets of its project. */
export const projectValues = (project: VendorProject): PlainValues => ({
  name: project.name,
  description: project.description ?? '',
  group_backend_id: String(project.namespace.id),
  visibility_level: levelOf(project.visibility ?? ''),
  wiki_enabled: project.wiki_enabled,
  issues_enabled: project.issues_enabled,
  snippets_enabled: project.snippets_enabled,
  merge_requests_enabled: project.merge_requests_enabled,
  web_url: project.web_url || null,
  http_url_to_repo: project.http_url_to_repo,
  ssh_url_to_repo: project.ssh_url_to_repo,
});

const object = (
  kind: string,
  { created_at: created, id }: VendorGroup | VendorProject,
  { name, ...values }: PlainValues,
): BackendObject => ({ kind, backend_id: String(id), name: String(name), values: { ...values, created } });

export const groupObject = (group: VendorGroup, site: string): BackendObject =>
  object('Group', group, groupValues(group, site));

export const projectObject = (project: VendorProject): BackendObject =>
  object('Project', project, projectValues(project));

/** Whether it is there only until GitLab has deleted it for good. */
export const isLeaving = (existing: VendorGroup | VendorProject): boolean =>
  Boolean(existing.marked_for_deletion_on ?? ('marked_for_deletion_at' in existing && existing.marked_for_deletion_at));
