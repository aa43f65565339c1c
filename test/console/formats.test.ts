/** How the console formats sizes, times, states, and the label of every field. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { kindOfType } from '../../src/console/format/kinds.ts';
import { axisTop, daysUntilFull } from '../../src/console/format/numbers.ts';
import { parseSize, sizeIn, sizeInput, sizeUnit } from '../../src/console/format/size.ts';
import { isTransient, statusOf, statusOfWord } from '../../src/console/format/status.ts';
import { distance, durationParts } from '../../src/console/format/time.ts';
import { englishOf, englishOfAction } from '../../src/console/i18n/english.ts';
import { fieldLabel, groups, isQuotaInMebibytes, quotaLabel } from '../../src/console/i18n/labels.ts';

const test = suite('formats of the console');

const read = (mib: number): string => `${sizeIn(mib, sizeUnit(mib))} ${sizeUnit(mib)}`;

test('writes MiB in the unit that reads best', () => {
  assert.equal([0, 512, 1023, 1024, 1536, 589_824, 1_048_575, 1_048_576, 1_468_006].map(read), [
    '0 MiB',
    '512 MiB',
    '1023 MiB',
    '1 GiB',
    '1.5 GiB',
    '576 GiB',
    '1024 GiB',
    '1 TiB',
    '1.4 TiB',
  ]);
});

test('parses sizes in any usual notation, without a unit in GiB', () => {
  assert.equal(
    ['20', '1.5', '1,5 TiB', '500 MiB', '500mb', '2T', ' 10 GB ', '0'].map(parseSize),
    [20_480, 1536, 1_572_864, 500, 500, 2_097_152, 10_240, 0],
  );
  assert.equal(['', 'ten', '-5', '5 KiB', '1 2', '1e3'].map(parseSize), Array(6).fill(undefined));
});

test('fills a size field with text that it parses as the same size', () => {
  for (const mib of [1, 512, 1024, 1536, 5120, 10_000, 76_800, 1_048_576]) assert.is(parseSize(sizeInput(mib)), mib);
  assert.equal([10_240, 1536, 1000].map(sizeInput), ['10', '1.5', '1000 MiB']);
});

test('writes times relative within seven days, then as a day, then as a month', () => {
  const now = Date.UTC(2026, 10, 25, 12);
  const at = (seconds: number) => distance(now - seconds * 1000, now);
  assert.equal([0, 44, 47 * 60, 2 * 3600, 2 * 86_400, 7 * 86_400, 400 * 86_400].map(at), [
    { kind: 'now' },
    { kind: 'now' },
    { kind: 'past', count: 47, unit: 'minute' },
    { kind: 'past', count: 2, unit: 'hour' },
    { kind: 'past', count: 2, unit: 'day' },
    { kind: 'day' },
    { kind: 'month' },
  ]);
  assert.equal(at(-18 * 60), { kind: 'future', count: 18, unit: 'minute' });
});

test('writes durations in the unit that reads best', () => {
  assert.equal([0.031, 2, 14 * 60, 3 * 3600, 5 * 86_400].map(durationParts), [
    { count: 31, unit: 'millisecond' },
    { count: 2, unit: 'second' },
    { count: 14, unit: 'minute' },
    { count: 3, unit: 'hour' },
    { count: 5, unit: 'day' },
  ]);
});

const resource = (state: string, runtime_state: string, others = {}) => ({ state, runtime_state, ...others });

test('shows the runtime state of a resource that is OK', () => {
  const words = [
    resource('OK', 'ACTIVE'),
    resource('OK', 'online'),
    resource('OK', 'SHUTOFF'),
    resource('OK', 'in-use'),
    resource('OK', ''),
    resource('OK', 'REBOOT'),
  ].map((item) => statusOf(item));
  assert.equal(
    words.map(({ tone, word }) => `${word} ${tone}`),
    ['Running good', 'Running good', 'Stopped idle', 'In use good', 'Ready good', 'Restarting busy'],
  );
});

test('shows the running and the failed operation', () => {
  assert.equal(statusOf(resource('Updating', 'online', { action: 'stop' })).word, 'Stopping');
  assert.equal(statusOf(resource('Creation Scheduled', '')), { word: 'Creating', tone: 'busy', isQueued: true });
  assert.equal(statusOf(resource('Erred', 'online', { backend_id: '1', action: 'stop' })).word, 'Stop failed');
  assert.equal(statusOf(resource('Erred', '', { backend_id: '' })).word, 'Creation failed');
  assert.equal(statusOf(resource('Erred', '', { error_message: 'Does not exist at backend.' })).tone, 'warn');
  assert.equal(statusOf({ state: 'Erred', type: 'OpenStack' }).word, 'Account failed');
  assert.equal(statusOf({ state: 'In Sync', type: 'OpenStack' }), { word: 'In sync', tone: 'good' });
});

test('keeps a state that it does not know', () => {
  assert.equal(statusOf(resource('OK', 'MOONLIT')), { word: 'MOONLIT', tone: 'idle' });
  assert.equal(statusOfWord('Sleeping'), { word: 'Sleeping', tone: 'idle' });
  assert.equal(['OK', 'Creation Scheduled', 'Updating', 'Erred'].map(isTransient), [false, true, true, false]);
});

test('names fields, quotas, lists, types and actions', () => {
  assert.equal(
    ['service_settings', 'ram', 'nc_volume_size', 'hooks', 'openstack-service-project-link', 'unheard_of'].map(
      englishOf,
    ),
    ['Provider account', 'Memory', 'Volume storage', 'Notifications', 'OpenStack connections', 'Unheard of'],
  );
  assert.equal(
    [englishOfAction('pull'), englishOfAction('unlink'), englishOfAction('change_flavor', 'Change Flavor')],
    ['Refresh from provider', 'Stop managing', 'Change flavor'],
  );
  assert.equal([kindOfType('Amazon.Instance').word, kindOfType('Moon.Base').word], ['EC2 instance', 'Moon.Base']);
  assert.equal(
    [quotaLabel('nc_vm_count'), isQuotaInMebibytes('ram'), isQuotaInMebibytes('vcpu')],
    ['Virtual machines', true, false],
  );
});

test('places every field: shown first, under Details, in raw data or in forms', () => {
  assert.equal(fieldLabel('uuid'), { label: 'UUID', format: 'id', placement: 'details', group: 'Identity' });
  assert.equal(
    ['state', 'customer_uuid', 'password'].map((name) => fieldLabel(name)?.placement),
    ['shown', 'raw', 'form'],
  );
  assert.is(fieldLabel('unheard_of'), undefined);
  assert.is(groups[0], 'Identity');
});

test('forecasts the day on which a rising usage reaches its limit, within a year', () => {
  assert.is(daysUntilFull(40, 70, 100, 30), 30);
  assert.is(daysUntilFull(69, 70, 71.5, 30), 45);
  assert.equal(
    [
      daysUntilFull(70, 70, 100, 30),
      daysUntilFull(80, 70, 100, 30),
      daysUntilFull(69, 70, 100, 30),
      daysUntilFull(40, 100, 100, 30),
      daysUntilFull(40, 70, -1, 30),
      daysUntilFull(Number.NaN, 70, 100, 30),
    ],
    Array(6).fill(undefined),
  );
});

test('ends the axis of a chart at a round number with a whole half', () => {
  assert.equal([0, 1, 2, 3, 5, 28, 62, 101].map(axisTop), [2, 2, 2, 4, 10, 40, 100, 200]);
});

test.run();
