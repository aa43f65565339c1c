/** GET /api/api-keys/scopes/: the scopes of API keys with their operations (core.md 2.9). */
import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { hasScope, type ScopeLevel } from '../../kernel/access/api-key.ts';
import { authenticated } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { json } from '../../kernel/http/reply.ts';
import { memoised } from '../../kernel/memoised.ts';
import { namesOf } from '../../kernel/present.ts';
import { describedScopes, type ScopeGroup } from '../scopes/described-scopes.ts';
import { requiredScopes } from '../scopes/required-scopes.ts';
import { operationIds } from './operation-ids.ts';

const text = { type: 'string' };

const shape = {
  type: 'array',
  items: {
    title: 'ApiKeyScope',
    ...objectShape({
      scope: text,
      description: text,
      grants_access: { type: 'boolean', description: 'Whether the scope can grant access that outlives the key.' },
      operations: { type: 'array', items: text },
    }),
  },
};

/** Returns the endpoint that lists the scopes of these endpoints' operations. */
export function scopeList(endpoints: () => readonly Endpoint[], catalogue: Catalogue): Endpoint {
  const list = memoised((_: Catalogue) => {
    const served = endpoints().filter(({ isPage, operations }) => !isPage && Object.keys(operations).length > 0);
    const idOf = operationIds(served);
    const operations = served.flatMap((endpoint) =>
      namesOf(endpoint.operations).flatMap((method) => {
        const required = requiredScopes(catalogue, endpoint, method);
        return typeof required === 'string' ? [] : [{ id: idOf(endpoint, method), required }];
      }),
    );
    return describedScopes.map(({ description, grantsAccess, scope }) => ({
      scope,
      description,
      grants_access: grantsAccess,
      operations: operations.flatMap(({ id, required }) => {
        // The first scope determines the group. The others are additional requirements.
        const [group, level] = (required[0] ?? '').split(':') as [ScopeGroup, ScopeLevel];
        return hasScope({ scopes: new Set([scope]) }, group, level) ? [id] : [];
      }),
    }));
  });
  return {
    path: '/api/api-keys/scopes/',
    name: 'API Key Scopes',
    description: 'The scopes of API keys.',
    operations: {
      GET: {
        summary: 'Lists the scopes of API keys with the operations that each permits.',
        allowedFor: authenticated.allowedFor,
        output: { status: 200, shape },
        handle: () => json(list(catalogue)),
      },
    },
  };
}
