import { RestRefusal } from '../rest.ts';

const names: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest',
  413: 'overLimit',
};

/** A refusal in the words of a service, such as `compute/servers`: each has a form of its own. */
export function refusal(place: string, status: number, message: string): RestRefusal {
  const service = place.split('/')[0];
  if (service === 'network') return new RestRefusal(status, { NeutronError: { type: 'Refused', message, detail: '' } });
  if (service === 'identity') return new RestRefusal(status, { error: { code: status, title: 'Refused', message } });
  return new RestRefusal(status, { [names[status] ?? 'computeFault']: { code: status, message } });
}

export const unauthorized = (): RestRefusal =>
  refusal('identity', 401, 'The request you have made requires authentication.');
