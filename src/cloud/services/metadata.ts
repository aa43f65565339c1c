import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { json } from '../../kernel/http/reply.ts';
import { linkPath } from './paths.ts';

const links = { type: 'object', additionalProperties: { type: 'string', format: 'uri' } };
const serviceType = {
  title: 'ServiceType',
  ...objectShape({
    url: { type: 'string', format: 'uri' },
    service_project_link_url: { type: 'string', format: 'uri' },
    resources: links,
    properties: links,
    is_public_service: { type: 'boolean' },
  }),
};

/** GET /api/service-metadata/: every type of service with its endpoints (services.md 6). */
export const serviceMetadata: Endpoint = {
  path: '/api/service-metadata/',
  name: 'Service Metadata',
  description: 'Supported types of services with their endpoints.',
  operations: {
    GET: {
      summary: 'Lists the supported types of services.',
      allowedFor: 'Any authenticated user.',
      output: { status: 200, shape: { type: 'object', additionalProperties: serviceType } },
      handle: ({ base, app }) => {
        const url = (path: string): string => `${base}/api/${path}/`;
        const urls = (kinds: readonly { name: string; path: string }[]): Record<string, string> =>
          Object.fromEntries(kinds.map(({ name, path }) => [name, url(path)]));
        return json(
          Object.fromEntries(
            [...app.catalogue.types]
              .sort((a, b) => (a.name < b.name ? -1 : 1))
              .map((type) => [
                type.name,
                {
                  url: url(type.prefix),
                  service_project_link_url: url(linkPath(type)),
                  resources: urls(type.kinds),
                  properties: urls(type.properties),
                  is_public_service: type.isPublic,
                },
              ]),
          ),
        );
      },
    },
  },
};
