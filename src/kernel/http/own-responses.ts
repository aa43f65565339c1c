/** Responses of the listener itself, which need no application. */

import type { Result } from './call.ts';
import { preflightHeaders } from './cors.ts';
import { empty, json, type Reply } from './reply.ts';

/** The log fields and route of a response to a request without a known route. */
export const unrouted = { allow: '', route: '', caller: undefined };
export const preflight: Result = {
  ...unrouted,
  reply: { status: 204, body: '', type: '', headers: preflightHeaders, conditional: false },
};
/** The response to a preflight from an origin that is not allowed: without CORS headers, so that browsers name the cause. */
export const rejectedPreflight: Result = { ...unrouted, reply: empty() };
export const invalidHost: Result = { ...unrouted, reply: json({ detail: 'Invalid Host header.' }, 400) };
export const invalidTarget: Result = { ...unrouted, reply: json({ detail: 'Invalid request target.' }, 400) };
export const noSpace = json({ detail: 'Too many uploads at once. Try again.' }, 503, { 'Retry-After': '1' });

export const internalError = (id: string): Reply => json({ detail: 'Internal server error.', request_id: id }, 500);
