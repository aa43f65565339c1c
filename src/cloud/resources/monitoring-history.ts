import { second } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { historyParameters, parameter } from '../../kernel/collection/filter.ts';
import { sql } from '../../kernel/db/sql.ts';
import { collectErrors, invalidRequest } from '../../kernel/http/error.ts';
import { historyPoints } from '../../kernel/http/history.ts';
import { json } from '../../kernel/http/reply.ts';
import { linkOfResource, readers, requestedItems } from './measurements.ts';

/** Limits of one response: items, and values of all items at all points. */
const maxItems = 300;
const maxValues = 10_000;

interface MonitoringValue {
  readonly item: number;
  readonly point: number;
  readonly value: number | null;
}

/** GET /api/monitoring-items/history/ (services.md 7.4) */
export const monitoringHistory: Endpoint = {
  path: '/api/monitoring-items/history/',
  name: 'Monitoring History',
  description: 'Values of monitoring items at points in time.',
  operations: {
    GET: {
      summary: 'Returns the values of monitoring items at points in time.',
      allowedFor: readers.allowedFor,
      filters: {
        ...historyParameters,
        scope: parameter('link', 'Link of the resource.'),
        name: parameter('string', 'The exact value.'),
      },
      output: {
        status: 200,
        shape: {
          type: 'array',
          items: objectShape({
            scope: { type: 'string', format: 'uri' },
            name: { type: 'string' },
            history: {
              type: 'array',
              items: {
                type: 'object',
                properties: { point: { type: 'integer' }, value: { type: 'number' } },
                required: ['point'],
              },
            },
          }),
        },
      },
      handle: (request) => {
        const { db, query } = request;
        const [points, condition] = collectErrors(
          () => historyPoints(query),
          () => requestedItems(request),
        );
        const items = db.deferrableAll<{ id: number; name: string }>(sql`
          SELECT m.resource_id AS id, m.name FROM monitoring_item m
          WHERE ${condition}
          ORDER BY m.name, m.resource_id
          LIMIT ${maxItems + 1}`);
        if (items.length > maxItems || items.length * points.length > maxValues)
          throw invalidRequest(
            `More than ${maxItems} items, or ${maxValues} values, are asked for: name a scope, or fewer points.`,
          );
        const values = db.deferrableAll<MonitoringValue>(sql`
          SELECT i.key AS item, p.value AS point, (
            SELECT v.value FROM monitoring_value v
            WHERE v.resource_id = i.value ->> 'id' AND v.name = i.value ->> 'name' AND v.at < (p.value + 1) * ${second}
            ORDER BY v.at DESC
            LIMIT 1) AS value
          FROM json_each(${JSON.stringify(items)}) i CROSS JOIN json_each(${JSON.stringify(points)}) p
          ORDER BY i.key, p.key`);
        const histories = items.map(({ id, name }) => ({
          scope: linkOfResource(request, id),
          name,
          history: [] as object[],
        }));
        for (const { item, point, value } of values)
          histories[item]?.history.push(value === null ? { point } : { point, value });
        return json(histories);
      },
    },
  },
};
