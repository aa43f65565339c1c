import { type Fields, shown, shownList, shownText, shownTime, uuidField } from '../../kernel/collection/field.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  computedValue,
  constant,
  type Json,
  knownText,
  linkValue,
  numberValue,
  plainValue,
  timeValue,
} from '../../kernel/collection/representation.ts';
import { properName } from '../../kernel/collection/rules.ts';
import { text } from '../../kernel/collection/values.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import { keyToInject } from '../keys/injected-key.ts';
import { linkTarget } from '../services/targets.ts';
import { relatedItem } from './details.ts';
import { tagsField } from './tags.ts';

const of = (table: string, column: string): string =>
  `(SELECT ${column} FROM ${table} WHERE id = r.${table === 'service_settings' ? 'settings' : table}_id)`;
const settingsName = of('service_settings', 'name');

const uri = { type: 'string', format: 'uri' };

const slaShape = {
  type: ['object', 'null'],
  properties: {
    value: { type: ['number', 'null'] },
    agreed_value: { type: ['number', 'null'] },
    period: { type: 'string' },
  },
  required: ['value', 'agreed_value', 'period'],
};
const relatedShape = { type: 'array', items: { title: 'RelatedResource', ...relatedItem('resources').shape } };

/** The SLA row of the period the request asks for, or null. */
const slaValue =
  computedValue(`ifnull((SELECT json_object('value', s.value, 'agreed_value', s.agreed_value, 'period', s.period)
  FROM resource_sla s WHERE s.resource_id = r.id AND s.period = @period), 'null')`);

const monitoringValue = computedValue(
  `(SELECT json_group_object(m.name, m.value) FROM monitoring_item m WHERE m.resource_id = r.id)`,
);

/** SQL: the project's certifications are all held by the settings (services.md 2.6). */
export const isLinkValid = `NOT EXISTS (SELECT 1 FROM project_certification pc WHERE pc.project_id = r.project_id
  AND pc.certification_id NOT IN (SELECT certification_id FROM settings_certification WHERE settings_id = r.settings_id))`;

/** Members of every kind, in order (services.md 7.1). */
function baseFields({ kind, name, type }: TypedKind) {
  return {
    url: selfLink(kind.path, 'r.uuid'),
    uuid: uuidField(),
    name: properName(kind.examples?.name, kind.nameRules),
    description: text({ max: 500 }),
    service: shown('field', uri, linkValue(type.prefix, of('service', 'uuid'))),
    service_name: shownText(knownText(settingsName)),
    service_uuid: shownText(plainValue(of('service', 'uuid'))),
    service_settings: shown('field', uri, linkValue('service-settings', of('service_settings', 'uuid'))),
    service_settings_uuid: shownText(plainValue(of('service_settings', 'uuid'))),
    service_settings_state: shownText(knownText(of('service_settings', 'state'))),
    service_settings_error_message: shownText(knownText(of('service_settings', 'error_message'))),
    project: shown('field', uri, linkValue('projects', of('project', 'uuid'))),
    project_name: shownText(knownText(of('project', 'name'))),
    project_uuid: shownText(plainValue(of('project', 'uuid'))),
    customer: shown('field', uri, linkValue('customers', of('customer', 'uuid'))),
    customer_uuid: shownText(plainValue(of('customer', 'uuid'))),
    customer_name: shownText(knownText(of('customer', 'name'))),
    customer_native_name: shownText(knownText(of('customer', 'native_name'))),
    customer_abbreviation: shownText(knownText(of('customer', 'abbreviation'))),
    service_project_link: link({
      required: true,
      update: false,
      to: () => linkTarget(type),
      key: '(SELECT uuid FROM service_project_link WHERE id = r.link_id)',
    }),
    resource_type: shown('string', { type: 'string', enum: [name] }, constant(JSON.stringify(name))),
    state: shownText(),
    ...(kind.hasRuntimeState && { runtime_state: shownText() }),
    error_message: shownText(),
    backend_id: shownText(),
    created: shownTime(),
    access_url: shown(
      'string',
      { type: ['string', 'array', 'null'], items: { type: 'string' } },
      kind.accessUrl ?? (kind.isVirtualMachine ? addresses : constant('null')),
    ),
    tags: tagsField,
    sla: shown('nested object', slaShape, slaValue),
    monitoring_items: shown(
      'nested object',
      { type: 'object', additionalProperties: { type: 'number' } },
      monitoringValue,
    ),
    is_link_valid: shown('boolean', { type: 'boolean' }, booleanValue(isLinkValid)),
    action: shownText(),
    action_details: shown(
      'nested object',
      { type: 'object', additionalProperties: true },
      computedValue('r.action_details'),
    ),
    related_resources: shown('list', relatedShape, kind.related ?? constant('[]'), { shown: '@detail' }),
  };
}

/** External addresses, else internal ones, else null. */
const addresses: Json = computedValue(
  `CASE WHEN r.external_ips <> '[]' THEN r.external_ips WHEN r.internal_ips <> '[]' THEN r.internal_ips ELSE 'null' END`,
);

const option = (name: string): Json =>
  computedValue(`ifnull((SELECT options -> '$.${name}' FROM service_settings WHERE id = r.settings_id), 'null')`);

/** What virtual machines add. */
export const virtualMachineFields = {
  start_time: shown('datetime', { type: ['string', 'null'], format: 'date-time' }, timeValue),
  cores: shown('integer', { type: 'integer' }, numberValue),
  ram: shown('integer', { type: 'integer' }, numberValue),
  disk: shown('integer', { type: 'integer' }, numberValue),
  min_ram: shown('integer', { type: 'integer' }, numberValue),
  min_disk: shown('integer', { type: 'integer' }, numberValue),
  image_name: shownText(),
  key_name: shownText(),
  key_fingerprint: shownText(),
  user_data: text({ max: 65_536, update: false, help: 'Data given to the machine at its first start.' }),
  external_ips: shownList(computedValue('r.external_ips', { type: 'array', items: { type: 'string' } })),
  internal_ips: shownList(computedValue('r.internal_ips', { type: 'array', items: { type: 'string' } })),
  latitude: shown('float', { type: ['number', 'null'] }, option('latitude')),
  longitude: shown('float', { type: ['number', 'null'] }, option('longitude')),
  ssh_public_key: keyToInject(),
};

/** All members of a kind: the base ones, those of virtual machines, and its own. */
export const fieldsOfKind = (typed: TypedKind): Fields => ({
  ...baseFields(typed),
  ...(typed.kind.isVirtualMachine && virtualMachineFields),
  ...typed.kind.fields,
});
