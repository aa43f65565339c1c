import * as v from 'valibot';
import { embeddedQuotas } from '../../../activity/quotas/usage.ts';
import type { Request } from '../../../kernel/access/request.ts';
import {
  inputOf,
  messages,
  readOnly,
  readOnlyList,
  readOnlyText,
  type WritableField,
} from '../../../kernel/collection/field.ts';
import { link } from '../../../kernel/collection/links.ts';
import { booleanValue, computedValue, optionalLink, textValue } from '../../../kernel/collection/representation.ts';
import type { TextRule } from '../../../kernel/collection/rules.ts';
import { boolean, withJson } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { invalid } from '../../../kernel/http/error.ts';
import type { BackendObject } from '../../catalogue/driver.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../catalogue/type.ts';
import { detail, ofParent, relatedList, resourceTarget, shownDetail } from '../../resources/details.ts';
import { knownResource } from '../../resources/resource.ts';

const nameRules: readonly TextRule[] = [
  [/^[\p{L}\p{N}_.-]*$/u, "Name can contain only letters, digits, '_', '-' and '.'."],
  [/^(?!-).*(?<!\.)$/su, "Name cannot start with '-' or end in '.'."],
];

const publicLevel = 20;
const levels = [
  { value: 0, display_name: 'private' },
  { value: 10, display_name: 'internal' },
  { value: publicLevel, display_name: 'public' },
];
const knownLevels = levels.map(({ value }) => value);

/** Visibility at GitLab, a number in requests and responses. */
const visibilityLevel: WritableField<number, true> = {
  type: 'choice',
  help: '0 private, 10 internal, 20 public.',
  constraints: { choices: levels },
  json: () => computedValue(`ifnull(r.details -> '$.visibility_level', '0')`),
  shape: { type: 'integer', enum: knownLevels },
  input: inputOf(
    { required: true, update: false },
    {
      schema: v.picklist(knownLevels, ({ input }) => messages.choice(input)),
      coerce: (value) => knownLevels.find((level) => isNumberOf(level, value)) ?? value,
    },
  ),
};

/** Whether a text of a body writes this number. */
const isNumberOf = (level: number, value: unknown): boolean =>
  typeof value === 'string' && /^\s*\d+\s*$/.test(value) && Number(value) === level;

/** A feature that is off by default. */
const feature = (name: string) => withJson(boolean({ update: false }), () => booleanValue(detail(name)));

const webUrl = textValue(detail('web_url'));

const fields = {
  group: {
    ...link({
      required: true,
      update: false,
      to: resourceTarget('GitLab.Group', 'gitlab-groups'),
      key: ofParent('uuid'),
    }),
    // Null for a project whose group was unlinked.
    json: () => optionalLink('gitlab-groups', ofParent('uuid')),
    shape: { type: ['string', 'null'], format: 'uri' },
  },
  group_name: readOnlyText(textValue(ofParent('name'))),
  group_uuid: readOnlyText(textValue(ofParent('uuid'))),
  visibility_level: visibilityLevel,
  wiki_enabled: feature('wiki_enabled'),
  issues_enabled: feature('issues_enabled'),
  snippets_enabled: feature('snippets_enabled'),
  merge_requests_enabled: feature('merge_requests_enabled'),
  web_url: readOnly('url', { type: ['string', 'null'] }, webUrl),
  http_url_to_repo: shownDetail('http_url_to_repo', { type: 'string' }, '""'),
  ssh_url_to_repo: shownDetail('ssh_url_to_repo', { type: 'string' }, '""'),
  quotas: readOnlyList(embeddedQuotas('resource', 'r.id')),
};

const foreignGroup = 'Group belongs to different service project link.';

function accept({ db }: Request, values: NewResource<typeof fields>, place: ResourceLocation): CreationPlan {
  const { group, issues_enabled, merge_requests_enabled, snippets_enabled, visibility_level, wiki_enabled } = values;
  if (knownResource(db, group).link_id !== place.link) throw invalid({ group: [foreignGroup] });
  return {
    row: { parent_id: group, visibility_level, wiki_enabled, issues_enabled, snippets_enabled, merge_requests_enabled },
  };
}

/** A project can be imported only after its group. */
function acceptImport(
  { db }: Request,
  { values }: BackendObject,
  { link: linkId, settings }: ResourceLocation,
): CreationPlan {
  const group = String(values.group_backend_id ?? '');
  const links = db.values<number>(sql`
    SELECT link_id FROM resource
    WHERE settings_id = ${settings} AND kind = 'GitLab.Group' AND backend_id = ${group} AND backend_id <> ''`);
  if (links.length === 0) throw invalid({ backend_id: [`You must import group with ID ${group} first`] });
  if (!links.includes(linkId)) throw invalid({ project: [foreignGroup] });
  return { row: {} };
}

/** GitLab.Project (providers.md 8) */
export const project = resourceKind({
  name: 'Project',
  path: 'gitlab-projects',
  examples: { name: 'website' },
  plural: 'gitlab projects',
  category: 'apps',
  nameRules,
  fields,
  accessUrl: webUrl,
  related: relatedList('GitLab.Group', 'gitlab-groups', 'x.id = r.parent_id'),
  references: { parent_id: { value: 'group_backend_id', kind: 'GitLab.Group' } },
  isCreatable: true,
  hasMembers: true,
  accept,
  quotaDeltas: () => ({ service: { project_count: 1 } }),
  ownQuotas: { limits: { commit_count: -1 }, usages: ['commit_count'] },
  actions: [],
  importing: {
    fields: ['public'],
    item: (_request, { values }) => ({ public: values.visibility_level === publicLevel }),
    accept: acceptImport,
  },
});
