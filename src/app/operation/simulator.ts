import { isSimulated } from '../../cloud/catalogue/simulation.ts';
import { driverSettings } from '../../cloud/operations/drivers.ts';
import { drift, drifts } from '../../cloud/providers/simulator/objects.ts';
import { scopeField } from '../../cloud/resources/measurements.ts';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { type Fields, objectShape } from '../../kernel/collection/field.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { choice, integer, text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { requireStaff } from './requests.ts';

/** Maximum number of seconds to advance: a year. */
const maxAdvance = 366 * 24 * 3600;

const shape = {
  title: 'Simulator',
  ...objectShape({
    now: { type: 'string', format: 'date-time' },
    is_enabled: { type: 'boolean' },
    is_clock_own: { type: 'boolean' },
  }),
};

const state = ({ app }: Request) => ({
  now: isoTime(app.clock.now()),
  is_enabled: app.config.simulator_enabled,
  is_clock_own: app.deployment.advance !== undefined,
});

const failureFields = {
  kind: text({
    required: true,
    max: 100,
    help: 'Kind of resource or provider, such as DigitalOcean.Droplet.',
    example: 'DigitalOcean.Droplet',
  }),
  operation: text({ required: true, max: 100, help: 'Operation to fail, such as create.', example: 'create' }),
  message: text({ max: 2000, help: 'Error message of the provider.', example: 'Simulated failure' }),
};

/** The body of `drift`. */
const driftFields = {
  resource: { ...scopeField, help: 'Link of a simulated resource.' },
  change: choice({
    required: true,
    choices: () => drifts.map((change) => [change, change]),
    help: 'Change at the provider.',
  }),
};

interface DriftingResource {
  readonly kind: string;
  readonly backend_id: string;
  readonly settings_id: number;
}

/** Changes a simulated resource at its provider only. Throws 400, 409. */
function changeAtProvider(request: Request): void {
  const { app, db } = request;
  const { change, resource } = validate(driftFields, request, 'create');
  const row = db.one<DriftingResource>(
    sql`SELECT kind, backend_id, settings_id FROM resource WHERE id = ${resource.id}`,
  );
  const settings = present(driverSettings(app, row.settings_id));
  if (!isSimulated(settings.backend_url)) throw conflict('The resource is not simulated.');
  const kind = row.kind.slice(row.kind.indexOf('.') + 1);
  const exists = drift(app, app.catalogue.type(settings.type), settings, { kind, backendId: row.backend_id, change });
  if (!exists) throw conflict('The provider does not know the resource.');
}

const advanceFields = {
  seconds: integer({
    required: true,
    min: 1,
    max: maxAdvance,
    help: 'Seconds by which the clock advances.',
    example: 3600,
  }),
};

/** Throws 403, and 409 if the simulator is off. */
function requireSimulator(request: Request): void {
  requireStaff(request);
  if (!request.config.simulator_enabled) throw conflict('The simulator is switched off.');
}

/** Returns the function that advances the clock. Throws 403, 409. */
function advanceOf(request: Request): (milliseconds: number) => Promise<void> {
  requireSimulator(request);
  const { advance } = request.app.deployment;
  if (!advance) throw conflict("The clock is the machine's.");
  return advance;
}

const control = (
  name: string,
  title: string,
  summary: string,
  fields: Fields,
  operation: Pick<Endpoint['operations'] & object, never> & {
    /** A valid body for the documentation. */
    readonly example?: Readonly<Record<string, unknown>>;
    readonly prepare?: (request: Request) => Promise<unknown>;
    readonly handle: (request: Request) => ReturnType<typeof json>;
  },
): Endpoint => ({
  path: `/api/simulator/${name}/`,
  name: title,
  description: summary,
  actions: (request) =>
    staff.may(request, undefined) ? { POST: describeFields(fields, request, 'create') } : undefined,
  operations: {
    POST: {
      summary,
      allowedFor: staff.allowedFor,
      input: { fields, purpose: 'create', ...(operation.example && { example: operation.example }) },
      output: { status: 200, shape },
      rejections: { 409: true },
      // The simulated providers are not part of the database.
      isHandledOnce: true,
      isAlwaysAudited: true,
      ...operation,
    },
  },
});

/** All paths of the simulator (core.md 14.6). */
export const simulatorEndpoints: readonly Endpoint[] = [
  {
    path: '/api/simulator/',
    name: 'Simulator',
    description: 'The simulator of providers, and the clock of a server in memory.',
    operations: {
      GET: {
        summary: 'Returns the state of the simulator.',
        allowedFor: staff.allowedFor,
        output: { status: 200, shape },
        rejections: { 403: true },
        handle: (request) => {
          requireStaff(request);
          return json(state(request));
        },
      },
    },
  },
  control(
    'fail_next',
    'Simulator Fail Next',
    'Makes the next such operation at a simulated provider fail.',
    failureFields,
    {
      handle: (request) => {
        requireSimulator(request);
        const { kind, message = '', operation } = validate(failureFields, request, 'create');
        const { nextFailures } = request.app;
        const rejection = nextFailures.rejection(kind, operation);
        if (rejection) throw invalid({ [rejection[0]]: [rejection[1]] });
        nextFailures.add(kind, operation, message || `Simulated failure of ${operation}`);
        return json(state(request));
      },
    },
  ),
  control(
    'drift',
    'Simulator Drift',
    'Changes a simulated resource at its provider; the API shows the change after the next pull.',
    driftFields,
    {
      example: { resource: exampleLink('digitalocean-droplets'), change: 'rename' },
      handle: (request) => {
        requireSimulator(request);
        changeAtProvider(request);
        return json(state(request));
      },
    },
  ),
  control(
    'advance',
    'Simulator Advance',
    'Advances the clock of a server in memory, and runs due work.',
    advanceFields,
    {
      prepare: async (request) => {
        const advance = advanceOf(request);
        await advance(validate(advanceFields, request, 'create').seconds * 1000);
      },
      handle: (request) => {
        requireSimulator(request);
        return json({ ...state(request), now: isoTime(request.app.clock.now()) });
      },
    },
  ),
];
