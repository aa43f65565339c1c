/** What the listener itself answers, which asks the application nothing. */
import { preflightHeaders } from './cors.ts';
import type { Result } from './exchange.ts';
import { empty, json, type Reply } from './reply.ts';

/** What the log and every answer say of a request that no route is known of. */
export const unrouted = { allow: '', route: '', caller: undefined };
export const preflight: Result = {
  ...unrouted,
  reply: { status: 204, body: '', type: '', headers: preflightHeaders, conditional: false },
};
/** The answer to a preflight from an origin that is not allowed: without CORS headers, by which browsers name the cause. */
export const rejectedPreflight: Result = { ...unrouted, reply: empty() };
export const invalidHost: Result = { ...unrouted, reply: json({ detail: 'Invalid Host header.' }, 400) };
export const invalidTarget: Result = { ...unrouted, reply: json({ detail: 'Invalid request target.' }, 400) };
export const noSpace = json({ detail: 'Too many uploads at once. Try again.' }, 503, { 'Retry-After': '1' });

export const internalError = (id: string): Reply => json({ detail: 'Internal server error.', request_id: id }, 500);
