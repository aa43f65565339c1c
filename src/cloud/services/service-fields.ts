import { customers } from '../../accounts/customers/customers.ts';
import { projects } from '../../accounts/projects/projects.ts';
import { embeddedQuotas } from '../../activity/quotas/usage.ts';
import { connectedProjects } from '../../kernel/access/visibility.ts';
import {
  FieldError,
  readOnly,
  readOnlyList,
  readOnlyText,
  requiredOnCreation,
  uuidField,
  type WritableField,
  wrap,
  writeOnly,
} from '../../kernel/collection/field.ts';
import { link } from '../../kernel/collection/links.ts';
import {
  booleanValue,
  linkValue,
  listValue,
  notNullText,
  numberValue,
  objectValue,
  plainValue,
  textValue,
} from '../../kernel/collection/representation.ts';
import { boolean, text, url, withJson } from '../../kernel/collection/values.ts';
import { raw } from '../../kernel/db/sql.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { simulatedField, simulatedSql } from '../catalogue/simulation.ts';
import { typedLink } from './paths.ts';
import {
  credentialFields,
  geolocations,
  hostField,
  optionFields,
  settingsCertifications,
  settingsStateValue,
} from './settings-fields.ts';
import { settingsTarget } from './targets.ts';

/** The owners of the service in alias `v`. */
export const parents = `
  CROSS JOIN customer ON customer.id = v.customer_id
  CROSS JOIN service_settings st ON st.id = v.settings_id`;
const visibleProject = `(@all OR p.id IN (${connectedProjects(raw('@caller')).text}))`;

/** Link of the service in alias `v`. */
const serviceLink = typedLink('st.type', '', 'v.uuid');

const noName = 'Name cannot be empty';

const serviceName = withJson(
  requiredOnCreation(
    wrap(
      text({ max: 150, required: true, storedIn: false, example: 'Cloud of Alice' }),
      (parse) => (value, request, form) => {
        if (value === null || (typeof value === 'string' && value.trim() === '')) throw new FieldError([noName]);
        return parse(value, request, form);
      },
    ),
    noName,
  ),
  () => textValue('st.name'),
);

/** A member for the settings that only creation accepts and responses never contain. */
const creationOnly = <T, Q extends boolean>(field: WritableField<T, Q>): WritableField<T, Q> =>
  writeOnly({ ...field, input: { ...field.input, update: false, column: false } });

/** All members of services, in order (services.md 4.1), with the options of all types. */
export const serviceFields = memoised((catalogue: Catalogue) => {
  // The catalogue determines the members, so the types cannot include them.
  const options: object = Object.fromEntries(
    Object.entries(optionFields(catalogue)).map(([name, field]) => [name, creationOnly(field)]),
  );
  return {
    url: readOnly('field', { type: 'string', format: 'uri' }, serviceLink, { label: 'URL' }),
    uuid: uuidField(),
    is_simulated: simulatedField(simulatedSql('st')),
    name: serviceName,
    service_type: readOnlyText(textValue('st.type')),
    state: readOnlyText(settingsStateValue('st.state')),
    error_message: readOnlyText(textValue('st.error_message')),
    shared: readOnly('boolean', { type: 'boolean' }, booleanValue('st.shared')),
    projects: readOnlyList(
      listValue(
        objectValue({ url: linkValue('projects', 'p.uuid'), uuid: plainValue('p.uuid'), name: notNullText('p.name') }),
        `service_project_link l JOIN project p ON p.id = l.project_id WHERE l.service_id = v.id AND ${visibleProject}`,
        'p.name COLLATE NOCASE, p.id',
      ),
    ),
    customer: link({ required: true, update: false, to: () => customers, key: 'customer.uuid' }),
    customer_uuid: readOnlyText(plainValue('customer.uuid')),
    customer_name: readOnlyText(notNullText('customer.name')),
    customer_native_name: readOnlyText(notNullText('customer.native_name')),
    settings: link({ update: false, to: () => settingsTarget, key: 'st.uuid' }),
    settings_uuid: readOnlyText(plainValue('st.uuid')),
    resources_count: readOnly(
      'integer',
      { type: 'integer' },
      numberValue(
        `(SELECT count(*) FROM resource r JOIN project p ON p.id = r.project_id WHERE r.service_id = v.id AND NOT r.is_part AND ${visibleProject})`,
      ),
    ),
    available_for_all: boolean(),
    homepage: withJson(url({ max: 255, update: false, storedIn: false }), () => textValue('st.homepage')),
    terms_of_services: withJson(url({ max: 255, update: false, storedIn: false }), () =>
      textValue('st.terms_of_services'),
    ),
    certifications: readOnlyList(settingsCertifications),
    geolocations: readOnlyList(geolocations),
    quotas: readOnlyList(embeddedQuotas('service', 'v.id')),
    project: writeOnly(link({ update: false, storedIn: false, to: () => projects, key: "''" })),
    scope: creationOnly(hostField),
    backend_url: creationOnly(credentialFields.backend_url),
    username: creationOnly(credentialFields.username),
    password: creationOnly(credentialFields.password),
    token: creationOnly(credentialFields.token),
    certificate: creationOnly(credentialFields.certificate),
    domain: creationOnly(credentialFields.domain),
    ...options,
  };
});

export type ServiceFields = ReturnType<typeof serviceFields>;
