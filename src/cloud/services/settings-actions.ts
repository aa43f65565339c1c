import { certificationsField } from '../../accounts/projects/certifications.ts';
import type { Request } from '../../kernel/access/request.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { forbidden } from '../../kernel/http/error.ts';
import { changed, json } from '../../kernel/http/reply.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { mayWriteSettings, type SettingsRow, settings } from './settings.ts';

const certificationInput = { certifications: certificationsField(true) };

/** POST /api/service-settings/<uuid>/update_certifications/ */
const updateCertifications = (catalogue: Catalogue): Endpoint => ({
  path: '/api/service-settings/:key/update_certifications/',
  name: 'Service Settings Update Certifications',
  description: 'Replaces the certifications that settings hold.',
  actions: (request) =>
    mayWriteSettings(request, settings(catalogue).find(request))
      ? { POST: describeFields(certificationInput, request, 'create') }
      : undefined,
  operations: {
    POST: {
      summary: 'Replaces the certifications of service settings.',
      who: 'Staff; owners of the customer for private settings.',
      input: { fields: certificationInput, purpose: 'create' },
      output: { status: 200, shape: settings(catalogue).shape },
      handle: (request) => {
        const row = settings(catalogue).find(request);
        if (!mayWriteSettings(request, row)) throw forbidden();
        const { certifications = [] } = validate(certificationInput, request, 'create');
        request.db.run(sql`DELETE FROM settings_certification WHERE settings_id = ${row.id}`);
        for (const id of certifications)
          request.db.insert('settings_certification', { settings_id: row.id, certification_id: id });
        return changed(settings(catalogue).represent(request, row.id));
      },
    },
  },
});

const names = ['vcpu', 'ram', 'storage'] as const;

/** Sum of limits, -1 if one is unlimited or there is none; and sum of usages. */
function sums(
  { db }: Request,
  scope: string,
  ids: ReturnType<typeof sql>,
  name: string,
): { limit: number; usage: number } {
  return db.get<{
    limit: number;
    usage: number;
  }>(sql`SELECT ifnull(iif(min("limit") = -1, -1, sum("limit")), -1) AS "limit", ifnull(sum(usage), 0) AS usage
    FROM quota WHERE scope_kind = ${scope} AND name = ${name} AND scope_id IN (${ids})`) as {
    limit: number;
    usage: number;
  };
}

/** What the settings of a provider with machines have, and how much of it is used (services.md 2.5 "stats"). */
function statistics(request: Request, row: SettingsRow): Record<string, number> {
  const type = request.deployment.catalogue.type(row.type);
  const isCloud = type.quotas.settings.length > 0;
  const links = sql`SELECT l.id FROM service_project_link l JOIN service v ON v.id = l.service_id WHERE v.settings_id = ${row.id}`;
  const tenants = sql`SELECT id FROM resource WHERE settings_id = ${row.id} AND ${raw("kind = 'OpenStack.Tenant'")}`;
  return Object.fromEntries(
    names.flatMap((name) => {
      const own = isCloud
        ? sums(request, 'settings', sql`SELECT ${row.id}`, `openstack_${name}`)
        : { limit: -1, usage: sums(request, 'link', links, name).usage };
      const quota = isCloud ? sums(request, 'resource', tenants, name).limit : sums(request, 'link', links, name).limit;
      return [
        [name, own.limit],
        [`${name}_quota`, quota],
        [`${name}_usage`, own.usage],
      ] as const;
    }),
  );
}

const stats = (catalogue: Catalogue): Endpoint => ({
  path: '/api/service-settings/:key/stats/',
  name: 'Service Settings Statistics',
  description: 'What a provider has and how much of it is used.',
  actions: (request) => {
    settings(catalogue).find(request);
    return undefined;
  },
  operations: {
    GET: {
      summary: 'Answers what a provider has and how much of it is used.',
      who: 'Everybody who sees the settings.',
      output: { status: 200, shape: { type: 'object', additionalProperties: { type: 'number' } } },
      handle: (request) => {
        const row = settings(catalogue).find(request);
        return json(
          request.deployment.catalogue.type(row.type).quotas.link.length === 0 ? {} : statistics(request, row),
        );
      },
    },
  },
});

/** The action paths of settings. */
export const settingsActions = (catalogue: Catalogue): readonly Endpoint[] => [
  updateCertifications(catalogue),
  stats(catalogue),
];
