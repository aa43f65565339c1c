import * as v from 'valibot';
import type { Request } from '../../kernel/access/request.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import {
  inputOf,
  messages,
  readOnly,
  readOnlyTime,
  uuidField,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { emptyAsNull, selfLink } from '../../kernel/collection/links.ts';
import { computedValue, timeValue } from '../../kernel/collection/representation.ts';
import { boolean, choice, text, withJson } from '../../kernel/collection/values.ts';
import { memoised } from '../../kernel/memoised.ts';
import { namesOf } from '../../kernel/present.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { type AlertRow, severities } from './alert-store.ts';
import { alertFilters, visibleAlerts } from './filters.ts';

type AlertObject = AlertRow & Row;

/** The link of an alert's object. `resolve` finds the object and throws FieldError. */
export const scopeField = (
  scopes: Scopes,
  resolve: (link: string, request: Request) => ResolvedScope,
): WritableField<ResolvedScope, true> => ({
  ...readOnly(
    'field',
    { type: 'string', format: 'uri', examples: [exampleLink('projects')] },
    scopes.link('a.scope_kind', 'a.scope_id'),
  ),
  input: inputOf(
    { required: true },
    {
      schema: v.string(messages.string),
      coerce: (value) => emptyAsNull(typeof value === 'string' ? value.trim() : value),
      resolve,
    },
  ),
});

const severity = choice({
  required: true,
  choices: () => namesOf(severities).map((name) => [name, name] as const),
  example: 'Warning',
});

/** All members of alerts, in order. */
export const alertFields = memoised((scopes: Scopes) => ({
  url: selfLink('alerts', 'a.uuid'),
  uuid: uuidField(),
  alert_type: text({ max: 50, required: true, example: 'budget_nearly_spent' }),
  message: text({ max: 255, lines: 'many', required: true, example: '95 % of the budget is spent.' }),
  severity: withJson(severity, () =>
    computedValue(
      `CASE a.severity ${Object.entries(severities)
        .map(([name, code]) => `WHEN ${code} THEN '"${name}"'`)
        .join(' ')} END`,
    ),
  ),
  scope: scopeField(scopes, (link, request) => resolveScope(request, link, true)),
  created: readOnlyTime(),
  closed: readOnlyTime(timeValue),
  context: readOnly(
    'nested object',
    { type: 'object', additionalProperties: { type: 'string' } },
    computedValue('a.context'),
  ),
  acknowledged: boolean(),
}));

/** Alerts about objects of these kinds of scope. */
export const alerts = memoised((scopes: Scopes) =>
  collection<AlertObject>()({
    path: 'alerts',
    kind: 'Alert',
    description: 'Conditions attached to objects. A user who sees an object sees its alerts.',
    table: 'alert',
    alias: 'a',
    fields: alertFields(scopes),
    visible: visibleAlerts(scopes),
    filters: alertFilters,
    orderings: { severity: 'a.severity', created: 'a.created' },
    order: '-a.created',
  }),
);
