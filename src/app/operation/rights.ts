import { seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { right, staff, visibleTo } from '../../kernel/access/right.ts';
import { raw } from '../../kernel/db/sql.ts';

/** Who reads how the service works, where nothing secret is told. */
export const operators = right('staff; global support', ({ caller }) => seesAll(caller));

/** The same as a condition on rows. */
export const seenByOperators = visibleTo(operators.words, (caller) => raw(seesAll(caller) ? 'TRUE' : 'FALSE'));

/** Throws 403. */
export const demandStaff = (request: Request): void => staff.require(request, undefined);
