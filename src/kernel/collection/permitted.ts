import type { Request } from '../access/request.ts';
import type { CollectionSpec, Row } from './collection-spec.ts';
import type { Method } from './endpoint.ts';
import type { Fields } from './field.ts';

/** Whether the caller could create objects, as far as that does not depend on what the body names. */
export const permittedOnList = <F extends Fields, R extends Row, A>(
  { create }: Pick<CollectionSpec<F, R, A>, 'create'>,
  request: Request,
): readonly Method[] =>
  create && (create.right?.may(request, undefined) ?? create.isPossible?.(request) ?? true) ? ['POST'] : [];

/** Which changes of an object the rights of the caller allow, whatever its state says to them. */
export const permittedOnObject = <F extends Fields, R extends Row, A>(
  { delete: deletion, update }: Pick<CollectionSpec<F, R, A>, 'delete' | 'update'>,
  request: Request,
  row: R,
): readonly Method[] => [
  ...(update?.right.may(request, row) ? (['PUT', 'PATCH'] as const) : []),
  ...(deletion?.right.may(request, row) ? (['DELETE'] as const) : []),
];
