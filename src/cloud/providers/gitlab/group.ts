import type { Request } from '../../../kernel/access/request.ts';
import { readOnly, readOnlyList, writeOnly } from '../../../kernel/collection/field.ts';
import {
  linkValue,
  listValue,
  notNullText,
  objectValue,
  plainValue,
  textValue,
} from '../../../kernel/collection/representation.ts';
import { type TextRule, withRules } from '../../../kernel/collection/rules.ts';
import { text } from '../../../kernel/collection/values.ts';
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { ResourceRow } from '../../catalogue/resource-row.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../catalogue/type.ts';
import { detail, relatedList } from '../../resources/details.ts';
import { visibleResources } from '../../resources/rights.ts';

const allowed = /^[\p{L}\p{N}\p{Pd}_. ]*$/u;
const nameRules: readonly TextRule[] = [[allowed, "Name can only contain letters, digits, '_', '.', dash and space."]];
const pathRules: readonly TextRule[] = [
  [allowed, "Path can only contain letters, digits, '_', '.', dash and space."],
  [/^(?!-).*(?<!\.)$/su, "Path cannot start with '-' or end in '.'."],
];

const webUrl = textValue(detail('web_url'));
const project = objectValue({
  url: linkValue('gitlab-projects', 'x.uuid'),
  uuid: plainValue('x.uuid'),
  name: notNullText('x.name'),
  web_url: textValue(detail('web_url', 'x')),
});

const fields = {
  path: writeOnly(
    withRules(
      pathRules,
      text({ max: 100, required: true, update: false, help: 'Path of the group at GitLab.', example: 'alice' }),
    ),
  ),
  web_url: readOnly('url', { type: ['string', 'null'] }, webUrl),
  projects: readOnlyList(
    listValue(project, `resource x WHERE x.kind = 'GitLab.Project' AND x.parent_id = r.id`, 'x.id'),
  ),
};

/**
 * Settings with the same address and user share their groups. Settings without an address each have a separate simulated GitLab.
 */
const sameBackend = (settings: number): Sql => sql`
  r.settings_id IN (
    SELECT other.id FROM service_settings other JOIN service_settings own ON own.id = ${settings}
    WHERE other.id = own.id OR (
      other.type = own.type AND other.backend_url = own.backend_url AND other.username IS own.username))`;

const labels = { name: 'Name', path: 'Path' };

function accept(
  request: Request,
  { name, path }: NewResource<typeof fields>,
  { settings }: ResourceLocation,
): CreationPlan {
  // Callers must not learn the names of groups that they cannot see.
  const conflictOf = (what: 'name' | 'path', column: string, value: string): Readonly<Record<string, string[]>> => {
    const isSeen = request.db.value<number>(sql`
      SELECT ${visibleResources(request.caller)} AS is_seen FROM resource r
      WHERE r.kind = 'GitLab.Group' AND ${raw(column)} = ${value} AND ${sameBackend(settings)}
      ORDER BY is_seen DESC LIMIT 1`);
    if (isSeen === undefined) return {};
    return { [what]: [isSeen ? `Group with this ${what} already exists.` : `${labels[what]} cannot be used.`] };
  };
  const messages = { ...conflictOf('name', 'r.name', name), ...conflictOf('path', detail('path'), path) };
  if (Object.keys(messages).length > 0) throw invalid(messages);
  return { row: { path } };
}

const deletionDenialReason = ({ db }: Request, { id }: ResourceRow): string | undefined =>
  db.value(sql`SELECT 1 FROM resource WHERE parent_id = ${id} AND kind = 'GitLab.Project'`) === undefined
    ? undefined
    : 'This group contains projects. Only empty group can be deleted.';

/** GitLab.Group (providers.md 8) */
export const group = resourceKind({
  name: 'Group',
  path: 'gitlab-groups',
  examples: { name: 'Alice and Partners' },
  plural: 'gitlab groups',
  category: 'apps',
  nameRules,
  fields,
  accessUrl: webUrl,
  related: relatedList('GitLab.Project', 'gitlab-projects', 'x.parent_id = r.id'),
  isCreatable: true,
  hasMembers: true,
  accept,
  quotaDeltas: () => ({ service: { group_count: 1 } }),
  actions: [],
  deletion: { denialReason: deletionDenialReason },
  importing: {},
});
