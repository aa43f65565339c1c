import { expectedEvent, inCustomer } from '../../support/expected-event.ts';
import type { Json } from '../../support/fixture.ts';

/** Fields of a customer that many tests use. */
export const whole = {
  name: 'Alice Ltd',
  abbreviation: 'ALC',
  contact_details: 'Baker Street 221b',
  email: 'office@alice.example',
  country: 'EE',
  vat_code: 'EE123456789',
  is_company: true,
};

/** Returns the event of an actor's action on a customer. */
export const customerEvent = (actor: Record<string, string>, type: string, verb: string, customer: Json) =>
  expectedEvent(type, `Customer ${customer.name} has been ${verb}.`, actor, inCustomer(customer));
