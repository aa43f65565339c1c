import type { HttpError } from '../../kernel/http/error.ts';
import type { Answer, Exchange } from '../../kernel/http/exchange.ts';
import { isReading, pathOf } from '../../kernel/http/incoming-request.ts';
import { json } from '../../kernel/http/reply.ts';

/** Whether a request may change something: some that GET does for logins do, too. */
export const writes = ({ message: { method = 'GET' }, target }: Exchange): boolean =>
  !isReading(method) || pathOf(target).startsWith('/api-auth/');

/** An error as the answer to a request whose route nobody has looked for. */
export const refusal = ({ body, headers, status }: HttpError): Answer => ({
  reply: json(body, status, headers),
  allow: '',
  route: '',
  caller: undefined,
});
