import { AmazonAccount } from './amazon/account.ts';
import { Amazon } from './amazon/stand-in.ts';
import { Account } from './digitalocean/account.ts';
import type { FaultyVendor } from './faulty-vendor.ts';
import { GitLabAccount } from './gitlab/account.ts';
import { GitLab } from './gitlab/stand-in.ts';
import { JiraAccount } from './jira/account.ts';
import { Jira } from './jira/stand-in.ts';
import { OpenStackAccount } from './openstack/account.ts';
import { OpenStack } from './openstack/stand-in.ts';
import { OracleAccount } from './oracle/account.ts';
import { Oracle } from './oracle/stand-in.ts';

/* The vendors, for the table of faults. */

const amazonCodes: Readonly<Record<number, string>> = {
  401: 'AuthFailure',
  403: 'UnauthorizedOperation',
  404: 'InvalidAMIID.NotFound',
  409: 'OperationConflict',
  429: 'RequestLimitExceeded',
  500: 'InternalError',
  503: 'Unavailable',
};

const gitLabWrong = 'Please check backend URL and credentials';

const oracleMessage = (status: number, text: string): string => `${status}. Request to Oracle backend failed: ${text}`;

export const faultyVendors = {
  amazon: {
    name: 'Amazon',
    prefix: 'aws',
    open: (options) => AmazonAccount.open(options),
    routes: { ping: 'DescribeKeyPairs', create: 'RunInstances' },
    // EC2 rejections have codes. A missing object has status 400, and rate limits have 503.
    denial: (status, text, headers) =>
      Amazon.rejection(status === 404 ? 400 : status === 429 ? 503 : status, amazonCodes[status] ?? '', text, headers),
    unauthorized: 'AWS was not able to validate the provided access credentials',
    unknownState: (state) => ['OK', state],
  },
  digitalocean: {
    name: 'DigitalOcean',
    prefix: 'digitalocean',
    open: (options) => Account.open(options),
    routes: { ping: 'GET /account', create: 'POST /droplets' },
    denial: (status, text, headers = {}) => ({
      status,
      headers,
      text: JSON.stringify({ id: 'refused', message: text }),
    }),
    unauthorized: 'Unable to authenticate you',
    // Undocumented states count as errors (providers.md 5.5).
    unknownState: () => ['Erred', 'error'],
  },
  gitlab: {
    name: 'GitLab',
    prefix: 'gitlab',
    open: (options) => GitLabAccount.open(options),
    routes: { ping: 'GET /user', create: 'POST /groups' },
    denial: GitLab.rejection,
    unauthorized: gitLabWrong,
    pingRejection: gitLabWrong,
  },
  jira: {
    name: 'JIRA',
    prefix: 'jira',
    open: (options) => JiraAccount.open(options),
    routes: { ping: 'GET /api/2/myself', create: 'POST /api/2/project' },
    denial: Jira.rejection,
    unauthorized: 'JIRA CAPTCHA is triggered. Please reset credentials',
  },
  openstack: {
    name: 'OpenStack',
    prefix: 'openstack',
    open: (options) => OpenStackAccount.open(options),
    routes: { ping: 'POST /identity/auth/tokens', create: 'POST /compute/servers' },
    denial: OpenStack.denial,
    hasTokens: true,
    unauthorized: 'The request you have made requires authentication.',
    unknownState: (state) => ['OK', state],
  },
  oracle: {
    name: 'Oracle',
    prefix: 'oracle',
    open: (options) => OracleAccount.open(options),
    routes: { ping: 'GET /em/cloud/service_family_type/dbaas', create: 'POST /em/cloud/dbaas/dbplatformtemplate/:id' },
    denial: Oracle.rejection,
    reported: oracleMessage,
    unauthorized: oracleMessage(401, '{"message":"Authorization Required"}'),
    unknownState: (state) => ['OK', state],
  },
} satisfies Readonly<Record<string, FaultyVendor>>;
