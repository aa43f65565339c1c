/** Databases as users see them, equal with the simulator and Oracle. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import type { Backend } from '../../../vendors/account.ts';
import { OracleAccount } from '../../../vendors/oracle/account.ts';

function contract(backend: Backend): void {
  const test = suite(`Oracle on the ${backend}`);
  let account: OracleAccount;
  const reports = (): string[] => account.fixture.events().map(({ message }) => message);

  test.before(async () => {
    account = await OracleAccount.open({ backend });
  });
  test.after(() => account.close());

  let ledger: Json;

  test('offers the zones and templates of the settings', async () => {
    const list = async (path: string): Promise<Json[]> => (await account.fixture.staff.get(`/api/${path}/`)).body;
    assert.is((await list('oracle-zones')).length, 2);
    assert.equal(
      new Set((await list('oracle-templates')).map(({ type }) => type)),
      new Set(['Database Platform Template', 'Schema Platform Template']),
    );
  });

  test('creates a database', async () => {
    const ordered = await account.order('ledger', { backend_database_sid: 'LEDGER', description: 'Of 2018' });
    const states = (await account.collectStates(ordered.url)).filter((state) => state !== 'Creating');
    assert.equal(states, ['Creation Scheduled', 'Creating INITIATED', 'OK RUNNING']);
    ledger = await account.read(ordered.url);
    assert.equal(
      [ledger.name, ledger.description, ledger.template_name, ledger.backend_database_sid, ledger.backend_service_name],
      ['ledger', 'Of 2018', 'Database small', 'LEDGER', ''],
    );
    assert.equal([ledger.backend_id, ledger.access_url], ['1', null]);
    assert.match(ledger.start_time, /^2018-/);
    assert.equal(reports(), ['Resource ledger creation has been scheduled.', 'Resource ledger has been created.']);
  });

  test('stops, starts and restarts a database', async () => {
    const way = async (action: string): Promise<string[]> => {
      assert.is((await account.alice.post(`${ledger.url}${action}/`)).status, 202);
      // Vendors need a moment to start. Repeated runtime states do not matter.
      return (await account.collectStates(ledger.url)).filter(
        (state, n, all) => n === 0 || state.split(' ')[1] !== all[n - 1]?.split(' ').at(-1),
      );
    };
    assert.equal(await way('stop'), ['Update Scheduled RUNNING', 'Updating STOPPING', 'OK STOPPED']);
    assert.is((await account.read(ledger.url)).start_time, null);
    assert.equal(await way('start'), ['Update Scheduled STOPPED', 'Updating STARTING', 'OK RUNNING']);
    const restart = await way('restart');
    assert.equal(
      restart.filter((state) => state !== 'Updating STOPPED'),
      ['Update Scheduled RUNNING', 'Updating STOPPING', 'Updating STARTING', 'OK RUNNING'],
    );
    assert.equal(
      reports().filter((message) => !message.includes('scheduled')),
      ['Resource ledger has been stopped.', 'Resource ledger has been started.', 'Resource ledger has been restarted.'],
    );
  });

  test('a pull or synchronisation without news changes nothing', async () => {
    const before = await account.read(ledger.url);
    assert.equal(await account.act(ledger, 'pull'), before);
    assert.equal(await account.sync(), ['In Sync', '']);
    assert.equal(await account.read(ledger.url), before);
  });

  test('deletes a database', async () => {
    assert.equal((await account.remove(ledger)).slice(-2), ['Deleting DELETING', 'gone']);
    assert.equal(reports().at(-1), 'Oracle Database ledger has been deleted.');
  });

  test.run();
}

contract('simulator');
contract('driver');
