import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('VAT number of a customer (core.md 6.2)');

const wrongFormat = { vat_code: ['VAT number has invalid format.'] };
const privatePerson = { vat_code: ['VAT number is not supported for private persons.'] };

const create = (fields: object) =>
  fixture.staff.post('/api/customers/', { name: 'Bakery', is_company: true, ...fields });

/** Country, valid numbers, invalid numbers. */
const formats: readonly (readonly [country: string, valid: readonly string[], invalid: readonly string[]])[] = [
  ['AT', ['U12345678'], ['12345678', 'U1234567']],
  ['BE', ['123456789', '0123456789'], ['12345678', '01234567890']],
  ['BG', ['123456789', '1234567890'], ['12345678', '12345678901']],
  ['CY', ['12345678X'], ['123456789', '1234567X']],
  ['CZ', ['12345678', '123456789', '1234567890'], ['1234567', '12345678901']],
  ['DE', ['123456789'], ['12345678', '1234567890']],
  ['DK', ['12345678'], ['1234567', '123456789']],
  ['EE', ['123456789'], ['12345678', '12345678A']],
  ['ES', ['A1234567B', '12345678B', 'A12345678'], ['A123456B', 'AB2345678']],
  ['FI', ['12345678'], ['123456789', '1234567A']],
  ['FR', ['AB123456789', '12123456789'], ['IB123456789', 'AO123456789', 'A123456789']],
  ['GR', ['123456789'], ['12345678', '1234567890']],
  ['HR', ['12345678901'], ['1234567890', '123456789012']],
  ['HU', ['12345678'], ['1234567', '123456789']],
  ['IE', ['1234567A', '1A23456B', '123456AB', '1234567AB'], ['12345678', 'A1234567', '12345AB']],
  ['IT', ['12345678901'], ['1234567890', '1234567890A']],
  ['LT', ['123456789', '123456789012'], ['1234567890', '12345678901']],
  ['LU', ['12345678'], ['1234567', '123456789']],
  ['LV', ['12345678901'], ['1234567890', '123456789012']],
  ['MT', ['12345678'], ['1234567', '123456789']],
  ['NL', ['123456789B01'], ['123456789C01', '12345678B01', '123456789B1']],
  ['PL', ['1234567890'], ['123456789', '12345678901']],
  ['PT', ['123456789'], ['12345678', '1234567890']],
  ['RO', ['12', '1234567890'], ['1', '12345678901']],
  ['SE', ['123456789012'], ['12345678901', '1234567890123']],
  ['SI', ['12345678'], ['1234567', '123456789']],
  ['SK', ['1234567890'], ['123456789', '12345678901']],
];

for (const [country, valid, invalid] of formats) {
  test(`a number of ${country} has the format of ${country}, with or without the prefix`, async () => {
    for (const number of valid) {
      for (const vat_code of [number, `${country}${number}`]) {
        const response = await create({ country, vat_code });
        assert.is(response.status, 201, vat_code);
        assert.is(response.body.vat_code, vat_code);
      }
      assert.is(
        (await create({ vat_code: `${country}${number}` })).status,
        201,
        `${country}${number} without a country`,
      );
    }
    for (const number of invalid) {
      for (const fields of [
        { country, vat_code: number },
        { country, vat_code: `${country}${number}` },
        { vat_code: `${country}${number}` },
      ]) {
        const response = await create(fields);
        assert.equal([response.status, response.body], [400, wrongFormat], JSON.stringify(fields));
      }
    }
  });
}

test('accepts Greek numbers with the prefix EL or GR', async () => {
  for (const fields of [
    { vat_code: 'EL123456789' },
    { vat_code: 'GR123456789' },
    { country: 'GR', vat_code: 'EL123456789' },
  ]) {
    assert.is((await create(fields)).status, 201, JSON.stringify(fields));
  }
  assert.equal((await create({ vat_code: 'EL12345678' })).body, wrongFormat);
});

test('requires 2 to 15 letters and digits for a country without a format', async () => {
  for (const vat_code of ['12', 'ABC123', 'US12', 'us-123 456', '123456789012345']) {
    assert.is((await create({ country: 'US', vat_code })).status, 201, vat_code);
  }
  for (const vat_code of ['1', 'US1', '1234567890123456', '12/34', 'ÄÖ12']) {
    assert.equal((await create({ country: 'US', vat_code })).body, wrongFormat, vat_code);
  }
});

test('validates a number without a country and without a letter prefix as a whole', async () => {
  assert.is((await create({ vat_code: '123' })).status, 201);
  assert.equal((await create({ vat_code: '1234567890123456' })).body, wrongFormat);
});

test('ignores spaces, dashes and case, and stores the number as sent', async () => {
  const response = await create({ country: 'NL', vat_code: ' nl 123-456-789 b01 ' });
  assert.is(response.status, 201);
  assert.is(response.body.vat_code, 'nl 123-456-789 b01');
});

test("does not strip the prefix of a country other than the customer's", async () => {
  assert.equal((await create({ country: 'DE', vat_code: 'EE123456789' })).body, wrongFormat);
});

test('rejects a number without a company', async () => {
  for (const is_company of [false, undefined]) {
    assert.equal((await create({ is_company, country: 'EE', vat_code: 'EE123456789' })).body, privatePerson);
    assert.equal(
      (await create({ is_company, vat_code: 'nonsense!' })).body,
      privatePerson,
      'this comes before the format',
    );
  }
});

test('accepts an empty number from any user', async () => {
  assert.is((await create({ country: 'EE', vat_code: '' })).status, 201);
  assert.is((await create({ is_company: false, vat_code: '   ' })).status, 201);
});

test('validates an update on the stored values merged with the body', async () => {
  const { url } = await fixture.customer('Smithy', { is_company: true, country: 'EE', vat_code: 'EE123456789' });
  fixture.events();
  assert.equal((await fixture.staff.patch(url, { country: 'AT' })).body, wrongFormat);
  assert.equal((await fixture.staff.patch(url, { vat_code: 'EE1' })).body, wrongFormat);
  assert.equal((await fixture.staff.patch(url, { is_company: false })).body, privatePerson);
  assert.equal((await fixture.staff.put(url, { name: 'Smithy', is_company: 'no' })).body, privatePerson);
  assert.equal(fixture.events(), []);
  assert.equal((await fixture.staff.get(url)).body.country, 'EE');
  assert.is((await fixture.staff.patch(url, { country: 'AT', vat_code: 'ATU12345678' })).status, 200);
  assert.is((await fixture.staff.patch(url, { is_company: false, vat_code: '' })).status, 200);
});

test('a body without vat_code, country and is_company leaves the stored number unchanged', async () => {
  const { url, uuid } = await fixture.customer('Mill', { is_company: true, country: 'EE', vat_code: 'EE123456789' });
  const { db } = fixture.server.app;
  db.write(() =>
    db.run({ text: "UPDATE customer SET vat_code = 'from an older rule' WHERE uuid = ?", values: [uuid] }),
  );
  assert.is((await fixture.staff.patch(url, { name: 'Windmill' })).status, 200);
  assert.equal((await fixture.staff.patch(url, { country: 'EE' })).body, wrongFormat);
});

test('reports field errors first, and validates the number only without them', async () => {
  assert.equal((await create({ name: '', vat_code: 'nonsense!' })).body, { name: ['This field may not be blank.'] });
  assert.equal((await create({ vat_code: 'X'.repeat(21) })).body, {
    vat_code: ['Ensure this field has no more than 20 characters.'],
  });
});

test.run();
