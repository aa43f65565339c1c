import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { right, staff, visibleTo } from '../../kernel/access/right.ts';
import { raw } from '../../kernel/db/sql.ts';

/** The right to read the state of the service, without secrets. */
export const operators = right('staff; global support', ({ caller }) => seesAll(caller));

/** The same right as a condition on rows. */
export const seenByOperators = visibleTo(operators.words, (caller) => raw(seesAll(caller) ? 'TRUE' : 'FALSE'));

/** Throws 403. */
export const requireStaff = (request: Request): void => staff.require(request, undefined);
