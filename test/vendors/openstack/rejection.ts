import { RestRejection } from '../rest.ts';

const names: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest',
  413: 'overLimit',
};

/** A rejection by a service, such as `compute/servers`. Each service has its own form. */
export function denial(place: string, status: number, message: string): RestRejection {
  const service = place.split('/')[0];
  if (service === 'network')
    return new RestRejection(status, { NeutronError: { type: 'Rejected', message, detail: '' } });
  if (service === 'identity') return new RestRejection(status, { error: { code: status, title: 'Rejected', message } });
  return new RestRejection(status, { [names[status] ?? 'computeFault']: { code: status, message } });
}

export const unauthorized = (): RestRejection =>
  denial('identity', 401, 'The request you have made requires authentication.');
