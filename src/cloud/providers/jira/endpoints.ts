import type { Request } from '../../../kernel/access/request.ts';
import type { Collection } from '../../../kernel/collection/collection.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import { type Fields, messageShape } from '../../../kernel/collection/field.ts';
import { forbidden } from '../../../kernel/http/error.ts';
import type { EntityKind } from '../../catalogue/type.ts';
import { deleteEntity, type EntityRow } from '../../entities/entities.ts';
import { mayChange, who } from './rights.ts';

/** A row with who made it. */
export interface MadeRow extends EntityRow {
  readonly user_id: number | null;
}

/** The list and detail paths of a collection of these objects: deletion is scheduled, as of resources. */
export function entityEndpoints<F extends Fields, R extends MadeRow>(
  objects: Collection<F, R>,
  kind: EntityKind,
  check: (request: Request, row: R) => void = () => undefined,
): [list: Endpoint, detail: Endpoint] {
  const [list, detail] = objects.endpoints() as [Endpoint, Endpoint];
  const remove = {
    summary: `Deletes a ${objects.spec.kind.toLowerCase()}.`,
    who: who.delete,
    output: { status: 202, shape: messageShape },
    handle: (request: Request) => {
      const row = objects.find(request);
      if (!mayChange(request, row)) throw forbidden();
      check(request, row);
      return deleteEntity(request, kind, row);
    },
  };
  return [list, { ...detail, operations: { ...detail.operations, DELETE: remove } }];
}
