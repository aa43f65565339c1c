import { faults } from '../../../vendors/faults.ts';
import { OracleAccount } from '../../../vendors/oracle/account.ts';
import { Oracle } from '../../../vendors/oracle/stand-in.ts';

const told = (status: number, text: string): string => `${status}. Request to Oracle backend failed: ${text}`;

faults({
  name: 'Oracle',
  prefix: 'oracle',
  open: (options) => OracleAccount.open(options),
  routes: { ping: 'GET /em/cloud/service_family_type/dbaas', create: 'POST /em/cloud/dbaas/dbplatformtemplate/:id' },
  refusal: Oracle.refusal,
  told,
  unauthorized: told(401, '{"message":"Authorization Required"}'),
  unknownState: (state) => ['OK', state],
});
