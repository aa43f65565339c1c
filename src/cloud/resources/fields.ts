import { storedElsewhere } from '../../kernel/collection/changes.ts';
import {
  readOnly,
  readOnlyList,
  readOnlyText,
  readOnlyTime,
  secretField,
  uuidField,
} from '../../kernel/collection/field.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  computedValue,
  constant,
  type Json,
  linkValue,
  notNullText,
  numberValue,
  plainValue,
  timeValue,
} from '../../kernel/collection/representation.ts';
import { nonBlankName } from '../../kernel/collection/rules.ts';
import { text } from '../../kernel/collection/values.ts';
import type { TypedKind } from '../catalogue/catalogue.ts';
import { stateValue } from '../catalogue/resource-row.ts';
import { simulatedField, simulatedSql } from '../catalogue/simulation.ts';
import { keyToInject } from '../people/injected-key.ts';
import { settingsStateValue } from '../services/settings-fields.ts';
import { linkTarget } from '../services/targets.ts';
import { relatedItem } from './details.ts';
import { tagsField } from './tags.ts';

/** The owners of the resource in alias `r`. */
export const parents = `
  CROSS JOIN service ON service.id = r.service_id
  CROSS JOIN service_settings ON service_settings.id = r.settings_id
  CROSS JOIN service_project_link ON service_project_link.id = r.link_id
  CROSS JOIN project ON project.id = r.project_id
  CROSS JOIN customer ON customer.id = r.customer_id`;

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

/** The SLA row of the requested period, or null. */
const slaValue = computedValue(`ifnull((
  SELECT json_object('value', s.value, 'agreed_value', s.agreed_value, 'period', s.period)
  FROM resource_sla s
  WHERE s.resource_id = r.id AND s.period = @period), 'null')`);

const monitoringValue = computedValue(
  `(SELECT json_group_object(m.name, m.value) FROM monitoring_item m WHERE m.resource_id = r.id)`,
);

/** SQL: the settings have all certifications of the project (services.md 2.6). */
const isLinkValid = `NOT EXISTS (
  SELECT 1 FROM project_certification pc
  WHERE pc.project_id = r.project_id AND pc.certification_id NOT IN (
    SELECT certification_id FROM settings_certification WHERE settings_id = r.settings_id))`;

/** Members of every kind, in order (services.md 7.1). */
function baseFields({ kind, name, type }: TypedKind) {
  return {
    url: selfLink(kind.path, 'r.uuid'),
    uuid: uuidField(),
    is_simulated: simulatedField(simulatedSql('service_settings')),
    name: nonBlankName(kind.examples?.name, kind.nameRules),
    description: text({ max: 500, lines: 'many' }),
    service: readOnly('field', uri, linkValue(type.prefix, 'service.uuid')),
    service_name: readOnlyText(notNullText('service_settings.name')),
    service_uuid: readOnlyText(plainValue('service.uuid')),
    service_settings: readOnly('field', uri, linkValue('service-settings', 'service_settings.uuid')),
    service_settings_uuid: readOnlyText(plainValue('service_settings.uuid')),
    service_settings_state: readOnlyText(settingsStateValue('service_settings.state')),
    service_settings_error_message: readOnlyText(notNullText('service_settings.error_message')),
    project: readOnly('field', uri, linkValue('projects', 'project.uuid')),
    project_name: readOnlyText(notNullText('project.name')),
    project_uuid: readOnlyText(plainValue('project.uuid')),
    customer: readOnly('field', uri, linkValue('customers', 'customer.uuid')),
    customer_uuid: readOnlyText(plainValue('customer.uuid')),
    customer_name: readOnlyText(notNullText('customer.name')),
    customer_native_name: readOnlyText(notNullText('customer.native_name')),
    customer_abbreviation: readOnlyText(notNullText('customer.abbreviation')),
    service_project_link: link({
      required: true,
      update: false,
      storedIn: false,
      to: () => linkTarget(type),
      key: 'service_project_link.uuid',
    }),
    resource_type: readOnly('string', { type: 'string', enum: [name] }, constant(JSON.stringify(name))),
    state: readOnlyText(stateValue),
    ...(kind.runtime && { runtime_state: readOnlyText() }),
    error_message: readOnlyText(),
    backend_id: readOnlyText(),
    created: readOnlyTime(),
    access_url: readOnly(
      'string',
      { type: ['string', 'array', 'null'], items: { type: 'string' } },
      kind.accessUrl ?? (kind.isVirtualMachine ? addresses : constant('null')),
    ),
    tags: tagsField,
    sla: readOnly('nested object', slaShape, slaValue),
    monitoring_items: readOnly(
      'nested object',
      { type: 'object', additionalProperties: { type: 'number' } },
      monitoringValue,
    ),
    is_link_valid: readOnly('boolean', { type: 'boolean' }, booleanValue(isLinkValid)),
    action: readOnlyText(),
    action_details: readOnly(
      'nested object',
      { type: 'object', additionalProperties: true },
      computedValue('r.action_details'),
    ),
    related_resources: readOnly('list', relatedShape, kind.related ?? constant('[]'), { shownIf: '@detail' }),
  };
}

/** External addresses, or internal ones, or null. */
const addresses: Json = computedValue(
  `CASE WHEN r.external_ips <> '[]' THEN r.external_ips WHEN r.internal_ips <> '[]' THEN r.internal_ips ELSE 'null' END`,
);

const option = (name: string): Json =>
  computedValue(`ifnull((SELECT options -> '$.${name}' FROM service_settings WHERE id = r.settings_id), 'null')`);

/** Additional fields of virtual machines. */
const virtualMachineFields = {
  start_time: readOnly('datetime', { type: ['string', 'null'], format: 'date-time' }, timeValue),
  cores: readOnly('integer', { type: 'integer' }, numberValue),
  ram: readOnly('integer', { type: 'integer' }, numberValue),
  disk: readOnly('integer', { type: 'integer' }, numberValue),
  min_ram: readOnly('integer', { type: 'integer' }, numberValue),
  min_disk: readOnly('integer', { type: 'integer' }, numberValue),
  image_name: readOnlyText(),
  key_name: readOnlyText(),
  key_fingerprint: readOnlyText(),
  user_data: secretField(
    text({ max: 65_536, lines: 'many', update: false, help: 'User data for the first start of the machine.' }),
  ),
  external_ips: readOnlyList(computedValue('r.external_ips', { type: 'array', items: { type: 'string' } })),
  internal_ips: readOnlyList(computedValue('r.internal_ips', { type: 'array', items: { type: 'string' } })),
  latitude: readOnly('float', { type: ['number', 'null'] }, option('latitude')),
  longitude: readOnly('float', { type: ['number', 'null'] }, option('longitude')),
  ssh_public_key: keyToInject(),
};

/** Fields of all kinds. */
export type KindFields = Omit<ReturnType<typeof baseFields>, 'runtime_state'>;

/** Returns all members of a kind: the common ones, those of virtual machines, and specific ones, which the kind stores. */
export const fieldsOfKind = (typed: TypedKind): KindFields => ({
  ...baseFields(typed),
  ...(typed.kind.isVirtualMachine && virtualMachineFields),
  ...storedElsewhere(typed.kind.fields),
});
