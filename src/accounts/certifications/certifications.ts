import { staff, visibleTo } from '../../kernel/access/right.ts';
import { newUuid } from '../../kernel/app.ts';
import { changesOf } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { uuidField } from '../../kernel/collection/field.ts';
import { ofName } from '../../kernel/collection/filter.ts';
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
    unique: {
      column: 'name',
      of: (value) => value,
      message: () => 'Service Certification with this name already exists.',
    },
  }),
  description: text({ max: 500, lines: 'many' }),
  link: url({ max: 255 }),
};

/** A valid body for the documentation. */
const example = {
  name: 'ISO 27001',
  description: 'Information security management.',
  link: 'https://www.iso.org/standard/27001',
};

/** GET, POST /api/service-certifications/ (services.md 3) */
export const certifications = collection<Row>()({
  path: 'service-certifications',
  kind: 'Service Certification',
  description: 'Certifications that providers have and projects require.',
  table: 'service_certification',
  alias: 's',
  fields,
  visible: visibleTo('any user', () => raw('TRUE')),
  options: { actions: () => [] },
  examples: { create: example, replace: example, change: { description: 'Management of information security.' } },
  filters: { ...ofName('s.name') },
  orderings: { name: 's.name' },
  order: '-s.name',
  create: {
    right: staff,
    run: (request, _, columns) =>
      request.db.insert('service_certification', { uuid: newUuid(request.app), ...columns }),
  },
  update: {
    right: staff,
    run: (request, row, _, columns) => request.db.update('service_certification', row.id, changesOf(row, columns)),
  },
  delete: {
    right: staff,
    run: ({ db }, row) => void db.run(sql`DELETE FROM service_certification WHERE id = ${row.id}`),
  },
});
