import {
  anyOf,
  authenticated,
  ownersOf,
  type Right,
  right,
  rightUnlessDenied,
  staff,
} from '../../kernel/access/right.ts';
import { ownsCustomer } from '../../kernel/access/rights.ts';
import { sql } from '../../kernel/db/sql.ts';

/* Rights to write settings, services and links (services.md 2.4, 4.2). */

/** Users who may have write rights under only_staff_manages_services. The customer decides later which ones. */
export const serviceManagers = anyOf(
  staff,
  authenticated.as('owners of a customer').unless('only_staff_manages_services'),
);

/** The right to write the services of the subject's customer. */
export const serviceWriters = anyOf(staff, ownersOf('customer_id').unless('only_staff_manages_services'));

/** The right to import objects into a service and to unlink it. */
export const importers: Right<{ readonly customer_id: number; readonly settings_id: number }> = rightUnlessDenied(
  serviceWriters.as('staff; owners of the customer for private settings'),
  ({ caller, db }, service) => {
    const isShared =
      db.scalar<number>(sql`SELECT shared FROM service_settings WHERE id = ${service.settings_id}`) === 1;
    return isShared && !caller.isStaff
      ? 'Only staff users are allowed to import resources from shared services.'
      : undefined;
  },
);

/** The right to write settings. */
export const settingsWriters: Right<{ readonly shared: number; readonly customer_id: number | null }> = anyOf(
  staff,
  right<{ readonly shared: number; readonly customer_id: number | null }>(
    'owners of the customer for private settings',
    ({ caller, db }, { customer_id: customer, shared }) =>
      !shared && customer !== null && ownsCustomer(db, caller, customer),
  ).unless('only_staff_manages_services'),
);
