import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { ofName } from '../../../kernel/collection/filter.ts';
import { withChosen } from '../../../kernel/collection/representation.ts';
import { all, sql } from '../../../kernel/db/sql.ts';
import { pageHeaders, pageOf } from '../../../kernel/http/query.ts';
import { document } from '../../../kernel/http/reply.ts';
import { samlPath } from './endpoint.ts';

const filters = { ...ofName('name') };

/** GET /api-auth/saml2/providers/ (services.md 11) */
export const samlProviders: Endpoint = {
  path: `${samlPath}providers/`,
  name: 'SAML Provider List',
  description: 'The identity providers with which users can log in.',
  open: true,
  operations: {
    GET: {
      summary: 'Lists the identity providers by name.',
      allowedFor: 'Any caller.',
      filters,
      paginated: true,
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, url: { type: 'string' } },
            required: ['name', 'url'],
          },
        },
      },
      handle: (request) => {
        const { db, query } = request;
        const condition = all([filters.name.condition(request, 'name') ?? []].flat());
        const total = db.count(sql`SELECT count(*) FROM saml_idp WHERE ${condition}`);
        const page = pageOf(query, total);
        const providers = db.all<object>(sql`
          SELECT name, entity_id AS url FROM saml_idp
          WHERE ${condition}
          ORDER BY name COLLATE NOCASE, id
          LIMIT ${page.size} OFFSET ${page.offset}`);
        return document(JSON.stringify(withChosen(request, providers)), pageHeaders(page, total, request.url, query));
      },
    },
  },
};
