import type { Request } from '../../../../kernel/access/request.ts';
import { sql } from '../../../../kernel/db/sql.ts';
import { invalid } from '../../../../kernel/http/error.ts';
import type { BackendObject, PlainValues } from '../../../catalogue/driver.ts';
import type { CreationPlan, ResourceLocation } from '../../../catalogue/type.ts';

/** The tenant of an importable object, if it has a row. */
export const tenantOfItem = ({ db }: Pick<Request, 'db'>, object: BackendObject, settings: number): PlainValues => ({
  tenant_uuid:
    db.value<string>(sql`
      SELECT uuid FROM resource
      WHERE settings_id = ${settings} AND kind = 'OpenStack.Tenant'
        AND backend_id = ${String(object.values.tenant_backend_id ?? '')} AND backend_id <> ''`) ?? null,
});

/** Only objects of known tenants can be imported, into the project of the tenant. Throws 400. */
export function importIntoTenant(
  { db }: Pick<Request, 'db'>,
  object: BackendObject,
  place: ResourceLocation,
): CreationPlan {
  const tenant = String(object.values.tenant_backend_id ?? '');
  const parent = db.value<number>(sql`
    SELECT id FROM resource
    WHERE link_id = ${place.link} AND kind = 'OpenStack.Tenant' AND backend_id = ${tenant} AND backend_id <> ''`);
  if (parent === undefined) throw invalid({ backend_id: [`You must import tenant with ID ${tenant} first`] });
  return { row: { parent_id: parent } };
}
