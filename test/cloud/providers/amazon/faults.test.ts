import { AmazonAccount } from '../../../vendors/amazon/account.ts';
import { Amazon } from '../../../vendors/amazon/stand-in.ts';
import { faults } from '../../../vendors/faults.ts';

const codes: Readonly<Record<number, string>> = {
  401: 'AuthFailure',
  403: 'UnauthorizedOperation',
  404: 'InvalidAMIID.NotFound',
  409: 'OperationConflict',
  429: 'RequestLimitExceeded',
  500: 'InternalError',
  503: 'Unavailable',
};

faults({
  name: 'Amazon',
  prefix: 'aws',
  open: (options) => AmazonAccount.open(options),
  routes: { ping: 'DescribeKeyPairs', create: 'RunInstances' },
  // EC2 tells refusals by their codes: what is not there with status 400, and limits with 503.
  refusal: (status, text, headers) =>
    Amazon.refusal(status === 404 ? 400 : status === 429 ? 503 : status, codes[status] ?? '', text, headers),
  unauthorized: 'AWS was not able to validate the provided access credentials',
  unknownState: (state) => ['OK', state],
});
