import type { Request } from '../../../kernel/access/request.ts';
import { readOnly, type WritableField, writeOnly } from '../../../kernel/collection/field.ts';
import { computedValue, timeValue } from '../../../kernel/collection/representation.ts';
import { withRules } from '../../../kernel/collection/rules.ts';
import { text } from '../../../kernel/collection/values.ts';
import { invalid, invalidRequest } from '../../../kernel/http/error.ts';
import { type CreationPlan, type NewResource, type ResourceLocation, resourceKind } from '../../catalogue/type.ts';
import { keyToInject } from '../../people/injected-key.ts';
import { propertyInSet, propertyLink } from '../../properties/property.ts';
import { shownDetail } from '../../resources/details.ts';
import { databaseTemplate } from './properties.ts';

/** A name of the database at Oracle, up to so many characters. */
const oracleName = (column: string, max: number, message: string): WritableField<string, false> => ({
  ...withRules([[new RegExp(`^[a-zA-Z0-9_]{1,${max}}$`), message]], text({ update: false })),
  constraints: { max_length: max },
  json: () => computedValue(`ifnull(r.details -> '$.${column}', '""')`),
});

const fields = {
  zone: propertyLink('Oracle.Zone', 'oracle-zones'),
  zone_name: shownDetail('zone_name', { type: 'string' }, '""'),
  template: propertyLink('Oracle.Template', 'oracle-templates'),
  template_name: shownDetail('template_name', { type: 'string' }, '""'),
  username: writeOnly(
    text({ max: 255, required: true, update: false, help: 'User of the database.', example: 'accounting' }),
  ),
  password: writeOnly(
    text({
      lines: 'verbatim',
      max: 255,
      required: true,
      update: false,
      help: 'Password of the database.',
      example: 'password-of-the-user',
    }),
  ),
  backend_database_sid: oracleName(
    'backend_database_sid',
    8,
    'database_sid must be less than 8 chars and contain only latin letters and digits',
  ),
  backend_service_name: oracleName(
    'backend_service_name',
    28,
    'service_name must be less than 28 chars and contain only latin letters and digits',
  ),
  ssh_public_key: keyToInject(),
  start_time: readOnly('datetime', { type: ['string', 'null'], format: 'date-time' }, timeValue),
};

function accept(request: Request, input: NewResource<typeof fields>, { settings }: ResourceLocation): CreationPlan {
  const zone = propertyInSet(request, input.zone, settings);
  const template = propertyInSet(request, input.template, settings);
  if (!zone || !template) throw invalidRequest('Zone and template must belong to the same service settings.');
  if (template.values.type !== databaseTemplate)
    throw invalid({ template: ['Invalid hyperlink - Object does not exist.'] });
  const { backend_database_sid, backend_service_name, password, username } = input;
  return {
    row: { zone_name: zone.name, template_name: template.name, backend_database_sid, backend_service_name },
    parameters: { zone: zone.values.uri ?? zone.backend_id, template: template.backend_id, username },
    secrets: { password },
  };
}

/** Oracle.Database (providers.md 9) */
export const database = resourceKind({
  name: 'Database',
  path: 'oracle-databases',
  examples: { name: 'Accounting' },
  plural: 'databases',
  category: 'apps',
  runtime: { online: 'RUNNING', offline: 'STOPPED' },
  fields,
  isCreatable: true,
  accept,
  quotaDeltas: () => ({}),
  actions: [
    { name: 'start', runtimeStates: ['STOPPED'], response: { status: 'start was scheduled' } },
    { name: 'stop', runtimeStates: ['RUNNING'], response: { status: 'stop was scheduled' } },
    { name: 'restart', runtimeStates: ['RUNNING'], response: { status: 'restart was scheduled' } },
  ],
  limits: { create: 60, action: 60, delete: 25 },
});
