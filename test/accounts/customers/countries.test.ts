import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('country of a customer (core.md 6.1)');
let choices: readonly { value: string; display_name: string }[];

/** The list in the API description, verbatim. */
const described =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW';

test.before(async () => {
  choices = (await fixture.staff.options('/api/customers/')).body.actions.POST.country.choices;
});

test('OPTIONS lists every country by its two-letter code, in order', () => {
  assert.is(choices.map(({ value }) => value).join(' '), described);
});

test('the display name of each choice is its English country name', () => {
  const names = Object.fromEntries(choices.map(({ value, display_name }) => [value, display_name]));
  for (const [code, name] of Object.entries({
    AX: 'Åland Islands',
    DE: 'Germany',
    EE: 'Estonia',
    GB: 'United Kingdom',
    NL: 'Netherlands',
    US: 'United States',
    ZW: 'Zimbabwe',
  })) {
    assert.is(names[code], name);
  }
  for (const { value, display_name } of choices) assert.match(display_name, /^\p{L}.*\p{Ll}/u, value);
  assert.is(new Set(choices.map(({ display_name }) => display_name)).size, 249, 'no two countries have the same name');
});

test('accepts every listed country and returns its English name in country_name', async () => {
  const customer: Json = await fixture.customer('Traveller');
  for (const { value, display_name } of choices) {
    const { status, body } = await fixture.staff.patch(customer.url, { country: value });
    assert.equal([status, body.country, body.country_name], [200, value, display_name]);
  }
});

test('country_name is empty without a country', async () => {
  const customer = await fixture.customer('Nomad', { country: 'EE' });
  const { body } = await fixture.staff.patch(customer.url, { country: '' });
  assert.equal([body.country, body.country_name], ['', '']);
});

test('rejects any other value as an invalid choice', async () => {
  for (const country of ['XX', 'ee', 'EST', 'Estonia', 'AN', 'XK', 'EU']) {
    const response = await fixture.staff.post('/api/customers/', { name: 'Nowhere', country });
    assert.equal([response.status, response.body], [400, { country: [`"${country}" is not a valid choice.`] }]);
  }
  assert.equal((await fixture.staff.post('/api/customers/', { name: 'Nowhere', country: null })).body, {
    country: ['This field may not be null.'],
  });
});

test('country_name is read-only', async () => {
  const { country, country_name } = await fixture.customer('Forger', { country: 'EE', country_name: 'Atlantis' });
  assert.equal([country, country_name], ['EE', 'Estonia']);
});

test.run();
