import { present } from '../../../kernel/present.ts';
import type { BackendObject, PlainValues } from '../../catalogue/driver.ts';
import type { VendorGroup, VendorProject } from './api.ts';

/* Maps GitLab objects to row values. */

const visibilities: Readonly<Record<number, string>> = { 0: 'private', 10: 'internal', 20: 'public' };

/** GitLab's name of a visibility level. */
export const visibilityOf = (level: unknown): string => present(visibilities[Number(level)]);

/** The visibility level with GitLab's name; undefined if unknown. */
function levelOf(visibility: string): number | undefined {
  const entry = Object.entries(visibilities).find(([, name]) => name === visibility);
  return entry && Number(entry[0]);
}

/** Row values of a group at the GitLab of this address. */
export function groupValues(group: VendorGroup, site: string): PlainValues {
  const { description, name, web_url: url } = group;
  const path = pathOf(group);
  return { name, description: description ?? '', path, web_url: url || `${site}/groups/${path}` };
}

/** The path of a group, with those of the groups that it is in. */
export const pathOf = ({ full_path: fullPath, path }: VendorGroup): string => fullPath || path;

/** Row values of a project. */
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

/** Whether GitLab has marked the object for deletion. */
export const isLeaving = (existing: VendorGroup | VendorProject): boolean =>
  Boolean(existing.marked_for_deletion_on ?? ('marked_for_deletion_at' in existing && existing.marked_for_deletion_at));
