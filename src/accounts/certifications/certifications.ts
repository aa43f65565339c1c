import { isStaff } from '../../kernel/access/caller.ts';
import { newUuid } from '../../kernel/access/deployment.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type DescribedAction, describeList, describeObject, forbiddenText } from '../../kernel/collection/actions.ts';
import { changesOf } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { uuidField } from '../../kernel/collection/field.ts';
import { partial } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { text, url } from '../../kernel/collection/values.ts';
import { raw, sql } from '../../kernel/db/sql.ts';

const fields = {
  url: selfLink('service-certifications', 's.uuid'),
  uuid: uuidField(),
  name: text({
    max: 150,
    required: true,
    example: 'ISO 27001',
    unique: { column: 'name', message: () => 'Service Certification with this name already exists.' },
  }),
  description: text({ max: 500 }),
  link: url({ max: 255 }),
};

/** A valid body for the documentation. */
const example = {
  name: 'ISO 27001',
  description: 'Information security management.',
  link: 'https://www.iso.org/standard/27001',
};

const forStaff = ({ caller }: Request): string | undefined => (isStaff(caller) ? undefined : forbiddenText);

const actions: readonly DescribedAction<Row>[] = [
  { name: 'update', method: 'PUT', destructive: false, tail: '', fields, refusal: forStaff },
  { name: 'destroy', method: 'DELETE', destructive: true, tail: '', refusal: forStaff },
];

/** GET, POST /api/service-certifications/ (services.md 3) */
export const certifications = collection<Row>()({
  path: 'service-certifications',
  kind: 'Service Certification',
  description: 'What providers are certified for, and what projects demand of them.',
  table: 'service_certification',
  alias: 's',
  fields,
  visible: () => raw('TRUE'),
  examples: { create: example, replace: example, change: { description: 'Management of information security.' } },
  who: { read: 'Everybody.', create: 'Staff.', update: 'Staff.', delete: 'Staff.' },
  describe: {
    list: (request) => describeList(request, isStaff(request.caller) ? fields : undefined),
    object: (request, row) =>
      describeObject(request, `${request.base}/api/service-certifications/${row.uuid}/`, row, actions),
  },
  filters: { name: partial('s.name') },
  orderings: { name: 's.name' },
  order: '-s.name',
  create: {
    may: ({ caller }) => isStaff(caller),
    run: (request, values) =>
      request.db.insert('service_certification', { uuid: newUuid(request.deployment), ...values }),
  },
  update: {
    may: ({ caller }) => isStaff(caller),
    run: (request, row, values) => request.db.update('service_certification', row.id, changesOf(row, values)),
  },
  delete: {
    may: ({ caller }) => isStaff(caller),
    run: ({ db }, row) => void db.run(sql`DELETE FROM service_certification WHERE id = ${row.id}`),
  },
});
