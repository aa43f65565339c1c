import { driverSettings } from '../../cloud/operations/drivers.ts';
import { isSimulated } from '../../cloud/operations/simulated.ts';
import { drift, drifts } from '../../cloud/providers/simulator/drift.ts';
import { scopeField } from '../../cloud/resources/measurements.ts';
import type { Request } from '../../kernel/access/request.ts';
import { staff } from '../../kernel/access/right.ts';
import { isoTime } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { type Fields, objectShape } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { choice, integer, text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { demandStaff } from './rights.ts';

/** At most so many seconds pass at a time: a year. */
const longest = 366 * 24 * 3600;

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

const failure = {
  kind: text({
    required: true,
    max: 100,
    help: 'What fails, such as DigitalOcean.Droplet.',
    example: 'DigitalOcean.Droplet',
  }),
  operation: text({ required: true, max: 100, help: 'What is to fail there, such as create.', example: 'create' }),
  message: text({ max: 2000, help: 'What the provider is to say.', example: 'Simulated failure' }),
};

/** Body of a change at the provider alone. */
const drifting = {
  resource: { ...scopeField, help: 'Link of a simulated resource.' },
  change: choice({
    required: true,
    choices: () => drifts.map((change) => [change, change]),
    help: 'What happens to it at the provider.',
  }),
};

interface Drifting {
  readonly kind: string;
  readonly backend_id: string;
  readonly settings_id: number;
}

/** Has a simulated resource change at its provider alone. Throws 400, 409. */
function driftOf(request: Request): void {
  const { app, db } = request;
  const { change, resource } = validate(drifting, request, 'create');
  const row = db.one<Drifting>(sql`SELECT kind, backend_id, settings_id FROM resource WHERE id = ${resource.id}`);
  const settings = present(driverSettings(app, row.settings_id));
  if (!isSimulated(settings.backend_url)) throw conflict('The resource is not simulated.');
  const kind = row.kind.slice(row.kind.indexOf('.') + 1);
  const isThere = drift(app, app.catalogue.type(settings.type), settings, { kind, backendId: row.backend_id, change });
  if (!isThere) throw conflict('The provider does not know the resource.');
}

const passing = {
  seconds: integer({ required: true, min: 1, max: longest, help: 'How far the clock goes on.', example: 3600 }),
};

/** Throws 403, and 409 where nothing is simulated. */
function demandSimulator(request: Request): void {
  demandStaff(request);
  if (!request.config.simulator_enabled) throw conflict('The simulator is switched off.');
}

/** The way on, for those who may let time pass. Throws 403, 409. */
function advanceOf(request: Request): (milliseconds: number) => Promise<void> {
  demandSimulator(request);
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
      refusals: { 409: true },
      // Providers are simulated outside of the database.
      isHandledOnce: true,
      ...operation,
    },
  },
});

/** Every path of the simulator's controls (core.md 14.6). */
export const simulatorEndpoints: readonly Endpoint[] = [
  {
    path: '/api/simulator/',
    name: 'Simulator',
    description: 'The simulator of providers, and the clock of a server in memory.',
    operations: {
      GET: {
        summary: 'Answers what may be done with the simulator.',
        allowedFor: staff.allowedFor,
        output: { status: 200, shape },
        refusals: { 403: true },
        handle: (request) => {
          demandStaff(request);
          return json(state(request));
        },
      },
    },
  },
  control('fail_next', 'Simulator Fail Next', 'Has the next such operation at a simulated provider fail.', failure, {
    handle: (request) => {
      demandSimulator(request);
      const { kind, message = '', operation } = validate(failure, request, 'create');
      const { nextFailures } = request.app;
      const refusal = nextFailures.rejection(kind, operation);
      if (refusal) throw invalid({ [refusal[0]]: [refusal[1]] });
      nextFailures.add(kind, operation, message || `Simulated failure of ${operation}`);
      return json(state(request));
    },
  }),
  control(
    'drift',
    'Simulator Drift',
    'Has a simulated resource change at its provider, unseen until it is synchronised.',
    drifting,
    {
      example: { resource: exampleLink('digitalocean-droplets'), change: 'rename' },
      handle: (request) => {
        demandSimulator(request);
        driftOf(request);
        return json(state(request));
      },
    },
  ),
  control('advance', 'Simulator Advance', 'Lets time pass on a server in memory; what comes due is done.', passing, {
    prepare: async (request) => {
      const advance = advanceOf(request);
      await advance(validate(passing, request, 'create').seconds * 1000);
    },
    handle: (request) => {
      demandSimulator(request);
      return json({ ...state(request), now: isoTime(request.app.clock.now()) });
    },
  }),
];
