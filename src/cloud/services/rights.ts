import type { Request } from '../../kernel/access/request.ts';
import { ownsCustomer } from '../../kernel/access/rights.ts';
import { sql } from '../../kernel/db/sql.ts';
import { forbidden } from '../../kernel/http/error.ts';

/* Who writes settings, services and links (services.md 2.4, 4.2). */

/** Whether the setting only_staff_manages_services leaves the caller any writes. */
export const mayManageServices = ({ caller, config }: Request): boolean =>
  caller.isStaff || !config.only_staff_manages_services;

/** Whether the caller may write a service of this customer. */
export const mayWriteService = ({ caller, config, db }: Request, customer: number): boolean =>
  caller.isStaff || (!config.only_staff_manages_services && ownsCustomer(db, caller, customer));

/** Importing from and unlinking shared services is for staff. Throws 403. */
export function refuseShared({ caller, db }: Pick<Request, 'caller' | 'db'>, service: { settings_id: number }): void {
  const shared = db.value(sql`SELECT shared FROM service_settings WHERE id = ${service.settings_id}`);
  if (shared && !caller.isStaff)
    throw forbidden('Only staff users are allowed to import resources from shared services.');
}
