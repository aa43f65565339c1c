/*
 * The straightforward implementation: Fastify and better-sqlite3, one query per relation, one transaction per write. It returns
 * the same bytes as Tenantry for the requests of the benchmark, from a database of the same schema.
 *
 *   node peer.mjs <database file>     prints {"url": …} when it listens
 */
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Caller, callerFinder } from './callers.ts';
import { customersOf, type NewCustomer, QuotaExceeded } from './customers.ts';
import { openDatabase } from './database.ts';
import { type ProjectChange, projectsOf } from './projects.ts';
import { sessionsOf } from './session.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

const db = openDatabase(process.argv[2] as string);
const findCaller = callerFinder(db);
const customers = customersOf(db);
const projects = projectsOf(db);
const sessions = sessionsOf(db);

// One line per request, in the format of Tenantry.
const app = Fastify({ logger: { level: 'info', stream: process.stderr }, disableRequestLogging: true });
app.decorateRequest('caller', null as unknown as Caller);
app.addHook('onResponse', async (request, reply) => {
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      caller: request.caller?.uuid,
    },
    'request',
  );
});

app.setErrorHandler((error, _request, reply) => {
  if (error instanceof QuotaExceeded) return reply.code(409).send({ detail: 'Quota exceeded.' });
  throw error;
});

const baseOf = (request: FastifyRequest): string => `${request.protocol}://${request.host}`;
const text = (maxLength: number) => ({ type: 'string', maxLength });
const notFound = (reply: FastifyReply): FastifyReply => reply.code(404).send({ detail: 'Not found.' });

app.post<{ Body: { username: string; password: string } }>(
  '/api-auth/password/',
  {
    schema: {
      body: {
        type: 'object',
        required: ['username', 'password'],
        properties: { username: text(150), password: text(4096) },
      },
    },
  },
  async ({ body }, reply) => {
    const token = await sessions.logIn(body.username, body.password);
    return token === undefined ? reply.code(401).send({ detail: 'Invalid username/password.' }) : { token };
  },
);

app.register(async (api) => {
  api.addHook('onRequest', async (request, reply) => {
    const caller = findCaller(request.headers.authorization);
    if (!caller) return reply.code(401).send({ detail: 'Invalid token.' });
    request.caller = caller;
  });

  api.get<{ Querystring: { page?: number } }>(
    '/api/customers/',
    { schema: { querystring: { type: 'object', properties: { page: { type: 'integer', minimum: 1 } } } } },
    async (request, reply) => {
      const { page = 1 } = request.query;
      const { total, limit, items } = customers.list(baseOf(request), request.caller, page);
      const last = Math.max(1, Math.ceil(total / limit));
      if (page > last) return reply.code(404).send({ detail: 'Invalid page.' });
      const link = (number: number, rel: string) =>
        `<${baseOf(request)}/api/customers/${number === 1 ? '' : `?page=${number}`}>; rel="${rel}"`;
      const links = [link(1, 'first')];
      if (page > 1) links.push(link(page - 1, 'prev'));
      if (page < last) links.push(link(page + 1, 'next'));
      links.push(link(last, 'last'));
      reply.headers({ 'X-Result-Count': String(total), Link: links.join(', ') });
      return items;
    },
  );

  api.get<{ Params: { uuid: string } }>('/api/customers/:uuid/', async (request, reply) => {
    return customers.find(baseOf(request), request.caller, request.params.uuid) ?? notFound(reply);
  });

  api.post<{ Body: NewCustomer }>(
    '/api/customers/',
    {
      schema: {
        body: {
          type: 'object',
          required: ['name'],
          additionalProperties: false,
          properties: {
            name: { ...text(150), minLength: 1 },
            native_name: text(160),
            abbreviation: text(12),
            contact_details: text(500),
            email: text(254),
            phone_number: text(255),
            country: text(2),
          },
        },
      },
    },
    async (request, reply) => {
      if (!request.caller.is_staff)
        return reply.code(403).send({ detail: 'You do not have permission to perform this action.' });
      const customer = customers.create(baseOf(request), request.caller, request.ip, request.body);
      return reply.code(201).header('Location', customer.url).send(customer);
    },
  );

  api.patch<{ Params: { uuid: string }; Body: ProjectChange }>(
    '/api/projects/:uuid/',
    {
      schema: {
        body: {
          type: 'object',
          additionalProperties: false,
          properties: { name: { ...text(150), minLength: 1 }, description: text(500) },
        },
      },
    },
    async (request, reply) => {
      return (
        projects.change(baseOf(request), request.caller, request.ip, request.params.uuid, request.body) ??
        notFound(reply)
      );
    },
  );
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
