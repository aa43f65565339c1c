import type { App } from '../kernel/access/app.ts';
import { Request } from '../kernel/access/request.ts';
import { authenticate } from '../kernel/access/tokens.ts';
import { allowed, type Endpoint, isMethod, metadata, type Operation } from '../kernel/collection/endpoint.ts';
import type { Database } from '../kernel/db/database.ts';
import { QueryCache } from '../kernel/db/query-cache.ts';
import { HttpError, notFound } from '../kernel/http/error.ts';
import type { Answer } from '../kernel/http/http-server.ts';
import type { IncomingRequest } from '../kernel/http/incoming-request.ts';
import { encoded, json, type Reply } from '../kernel/http/reply.ts';
import type { Router } from '../kernel/http/router.ts';
import { present } from '../kernel/present.ts';
import { dueExpiries } from './schedule/expiries.ts';

/** How many bytes of documents that callers were told are kept in memory. */
const documentBytes = 32 * 1024 * 1024;

/** The way of a request: due changes, route, caller, handler; errors become replies (core.md 1.2). */
export function dispatcher(
  app: App,
  router: Router<Endpoint>,
): (incoming: IncomingRequest) => Answer | Promise<Answer> {
  const { clock, db, log } = app;
  const allow = new Map(router.endpoints.map((endpoint) => [endpoint, allowed(endpoint)]));
  const expireDue = dueExpiries(app);
  const perform = performer(db);

  return (incoming) => {
    const match = router.find(incoming.path);
    const route = { allow: match ? present(allow.get(match.endpoint)) : '', route: match?.endpoint.path ?? '' };
    let caller: string | undefined;
    const answer = (reply: Reply): Answer => ({ ...route, reply, caller });
    const refuse = (error: unknown): Answer => {
      if (error instanceof HttpError) return answer(json(error.body, error.status, error.headers));
      log.error({ request: incoming.id, route: route.route, err: error }, 'internal error');
      return answer(json({ detail: 'Internal server error.', request_id: incoming.id }, 500));
    };
    const isProtected = match ? !match.endpoint.open : /^\/(api|api-auth|docs)\//.test(incoming.path);
    const presentRequest = (): Request => {
      const now = clock.now();
      db.catchUp();
      expireDue(now);
      const actor = isProtected ? authenticate(app, incoming, now) : null;
      caller = actor?.uuid;
      if (!match) throw notFound();
      return new Request(app, incoming, match.params, actor, now);
    };
    try {
      const request = presentRequest();
      const { endpoint } = present(match);
      if (incoming.method === 'OPTIONS') return answer(metadata(endpoint, request));
      const method = incoming.method === 'HEAD' ? 'GET' : incoming.method;
      const operation = isMethod(method) ? endpoint.operations[method] : undefined;
      if (!operation) throw new HttpError(405, { detail: `Method "${incoming.method}" not allowed.` });
      if (!operation.prepare && !incoming.isMultipart) return answer(perform(operation, request, undefined));
      // What had to wait is looked at anew: meanwhile its token may have been revoked, or a role may have ended.
      return prepare(operation, request)
        .then((prepared) => answer(perform(operation, presentRequest(), prepared)))
        .catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  };
}

/** What must happen before the transaction: reading a multipart body, hashing a password. */
async function prepare(operation: Operation, request: Request): Promise<unknown> {
  if (request.incoming.isMultipart) await request.incoming.prepareBody();
  return operation.prepare?.(request);
}

/**
 * Runs a handler: what writes in a transaction; what reads only if anything was written, or the document has run out, since
 * the same caller was told it. See src/decisions/remembered-answers.md.
 */
function performer(db: Database): (operation: Operation, request: Request, prepared: unknown) => Reply {
  const documents = new QueryCache<Reply>(db, documentBytes);
  return (operation, request, prepared) => {
    const { actor, incoming } = request;
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return db.write(() => operation.handle(request, prepared));
    const key = `${actor?.token} ${incoming.base}${incoming.path}?${incoming.query.text}`;
    const known = documents.get(key);
    if (known && (known.until === undefined || request.now < known.until)) return known;
    const reply = operation.handle(request, prepared);
    // What varies with a header of the request is another document each time.
    if (!reply.conditional || reply.headers.Vary !== undefined) return reply;
    const kept = encoded(reply);
    return documents.set(key, kept, key.length + kept.body.length);
  };
}
