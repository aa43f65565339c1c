import { staff } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { parameter } from '../../kernel/collection/filter.ts';
import { printSetting, secretSettings, settingNames, settings } from '../settings.ts';
import { pageOfValues, requireStaff } from './requests.ts';

const text = { type: 'string' };

const shape = {
  title: 'DeploymentSetting',
  ...objectShape({
    name: text,
    value: text,
    default: text,
    source: text,
    kind: text,
    is_secret: { type: 'boolean' },
    help_text: text,
  }),
};

/** GET /api/deployment-settings/ (core.md 14.6) */
export const settingsInForce: Endpoint = {
  path: '/api/deployment-settings/',
  name: 'Deployment Setting List',
  description: 'All settings with their values and sources.',
  operations: {
    GET: {
      summary: 'Lists all settings, as `tenantry config` prints them.',
      allowedFor: staff.allowedFor,
      paginated: true,
      filters: {
        name: parameter('string', 'Part of the name, without case.'),
        name_exact: parameter('string', 'The exact name.'),
        is_given: parameter('boolean', 'Whether the setting is set explicitly.'),
      },
      output: { status: 200, shape: { type: 'array', items: shape } },
      rejections: { 403: true },
      handle: (request) => {
        requireStaff(request);
        const { app, config, query } = request;
        const name = query.one('name')?.toLowerCase() ?? '';
        const exactName = query.one('name_exact');
        const isGiven = query.boolean('is_given');
        const sourceOf = (setting: (typeof settingNames)[number]): string => app.deployment.sourceOf(setting) ?? '';
        const matches = settingNames.filter(
          (setting) =>
            setting.includes(name) &&
            (exactName === undefined || setting === exactName) &&
            (isGiven === undefined || (sourceOf(setting) !== '') === isGiven),
        );
        return pageOfValues(request, matches, (setting) => ({
          name: setting,
          value: printSetting(setting, config[setting]),
          default: printSetting(setting, settings[setting].fallback),
          source: sourceOf(setting),
          kind: settings[setting].kind,
          is_secret: secretSettings.has(setting),
          help_text: settings[setting].help,
        }));
      },
    },
  },
};
