import * as v from 'valibot';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { type Field, FieldError, messages, shown, shownTime, uuidField } from '../../kernel/collection/field.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { computedValue, timeValue } from '../../kernel/collection/representation.ts';
import { boolean, choice, text } from '../../kernel/collection/values.ts';
import { memoised } from '../../kernel/memoised.ts';
import { type ResolvedScope, resolveScope } from '../scopes/resolve.ts';
import type { Scopes } from '../scopes/scopes.ts';
import { alertFilters, visibleAlerts } from './filters.ts';
import { type AlertRow, severities } from './raise.ts';

export type AlertObject = AlertRow & Row;

const severityNames = Object.keys(severities).map((name) => [name, name] as const);

/** The link of the object an alert is about. */
const scopeField = (scopes: Scopes): Field<ResolvedScope> => ({
  ...shown(
    'field',
    { type: 'string', format: 'uri', examples: [exampleLink('projects')] },
    scopes.link('a.scope_kind', 'a.scope_id'),
  ),
  input: {
    schema: v.string(),
    nullable: false,
    required: true,
    create: true,
    update: true,
    parse: (value, request) => {
      const link = typeof value === 'string' ? value.trim() : value;
      if (link === null || link === '') throw new FieldError([messages.null]);
      if (typeof link !== 'string') throw new FieldError([messages.string]);
      return resolveScope(request, link, true);
    },
  },
});

/** All members of alerts, in order. */
export const alertFields = memoised((scopes: Scopes) => ({
  url: selfLink('alerts', 'a.uuid'),
  uuid: uuidField(),
  alert_type: text({ max: 50, required: true, example: 'budget_nearly_spent' }),
  message: text({ max: 255, required: true, example: '95 % of the budget are spent.' }),
  severity: {
    ...choice({ required: true, choices: () => severityNames, example: 'Warning' }),
    json: () =>
      computedValue(
        `CASE a.severity ${Object.entries(severities)
          .map(([name, code]) => `WHEN ${code} THEN '"${name}"'`)
          .join(' ')} END`,
      ),
  },
  scope: scopeField(scopes),
  created: shownTime(),
  closed: shownTime(timeValue),
  context: shown(
    'nested object',
    { type: 'object', additionalProperties: { type: 'string' } },
    computedValue('a.context'),
  ),
  acknowledged: boolean(),
}));

/** The alerts about objects of these kinds of scope. */
export const alerts = memoised((scopes: Scopes) =>
  collection<AlertObject>()({
    path: 'alerts',
    kind: 'Alert',
    description: 'Conditions attached to objects. Whoever sees an object sees its alerts.',
    table: 'alert',
    alias: 'a',
    fields: alertFields(scopes),
    visible: (caller) => visibleAlerts(scopes, caller),
    who: { read: 'Everybody who sees the object the alert is about.' },
    filters: alertFilters,
    orderings: { severity: 'a.severity', created: 'a.created' },
    order: '-a.created',
  }),
);
