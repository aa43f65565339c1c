import { staff } from '../../kernel/access/right.ts';
import type { App } from '../../kernel/app.ts';
import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { conflict } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { errorOf } from '../../kernel/present.ts';
import { examine } from '../doctor/doctor.ts';
import { externalProblems } from '../doctor/external.ts';
import { failureOf, type Program, runCommand } from './program.ts';
import { demandStaff } from './rights.ts';

/** So many lines of findings are kept. */
const mostLines = 200;

/** What an examination came to, as the API tells it. */
interface Findings {
  readonly state: 'never' | 'running' | 'done' | 'failed';
  readonly started: string | null;
  readonly finished: string | null;
  /** One line each. */
  readonly findings: readonly string[];
  readonly error_message: string;
}

const none: Findings = { state: 'never', started: null, finished: null, findings: [], error_message: '' };

/** The examination of the data that was asked for last: `tenantry doctor` beside the server, which repairs nothing. */
export class Examination {
  #findings: Findings = none;
  #stop: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  get findings(): Findings {
    return this.#findings;
  }

  /** Begins another. Throws 409. */
  begin(app: App, program: Program | undefined): void {
    if (this.#findings.state === 'running') throw conflict('The data is being examined already.');
    const isInMemory = app.deployment.backups === undefined;
    if (!program && !isInMemory) throw conflict('The program that embeds this server examines the data itself.');
    this.#findings = { ...none, state: 'running', started: this.#now() };
    if (isInMemory || !program) {
      // What fits into memory is examined in no time.
      setImmediate(() => this.#settle(() => [...examine(app, false).problems, ...externalProblems(app)]));
      return;
    }
    const { result, stop } = runCommand(program, ['doctor']);
    this.#stop = stop;
    void result.then((exit) =>
      this.#settle(() => {
        const lines = exit.stdout.split('\n').filter((line) => line !== '' && line !== 'no problems');
        if (exit.stderr !== '' || (exit.code !== 0 && lines.length === 0)) throw new Error(failureOf(exit));
        return lines;
      }),
    );
  }

  /** Ends the one that is under way. */
  close(): void {
    this.#stop?.();
  }

  #settle(find: () => readonly string[]): void {
    this.#stop = undefined;
    const { started } = this.#findings;
    try {
      const findings = find().slice(0, mostLines);
      this.#findings = { state: 'done', started, finished: this.#now(), findings, error_message: '' };
    } catch (error) {
      const { message } = errorOf(error);
      this.#findings = { state: 'failed', started, finished: this.#now(), findings: [], error_message: message };
    }
  }

  #now(): string {
    return isoTime(this.clock.now());
  }
}

const instant = { type: ['string', 'null'], format: 'date-time' };

export const findingsShape = {
  title: 'Examination',
  ...objectShape({
    state: { type: 'string', enum: ['never', 'running', 'done', 'failed'] },
    started: instant,
    finished: instant,
    findings: { type: 'array', items: { type: 'string' } },
    error_message: { type: 'string' },
  }),
};

/** GET, POST /api/operation/doctor/ (core.md 14.6) */
export const doctorEndpoint: Endpoint = {
  path: '/api/operation/doctor/',
  name: 'Examination',
  description: 'What the doctor finds in the data.',
  actions: (request) => (staff.may(request, undefined) ? { POST: {} } : undefined),
  operations: {
    GET: {
      summary: 'Answers what the examination that was asked for last has found.',
      allowedFor: staff.allowedFor,
      output: { status: 200, shape: findingsShape },
      refusals: { 403: true },
      handle: (request) => {
        demandStaff(request);
        return json(request.app.deployment.examination.findings);
      },
    },
    POST: {
      summary: 'Has the data examined, beside the server; nothing is repaired.',
      allowedFor: staff.allowedFor,
      output: { status: 202, shape: findingsShape },
      refusals: { 409: true },
      isHandledOnce: true,
      handle: (request) => {
        demandStaff(request);
        const { deployment } = request.app;
        deployment.examination.begin(request.app, deployment.program);
        return json(deployment.examination.findings, 202);
      },
    },
  },
};
