import { staff } from '../../kernel/access/right.ts';
import type { App } from '../../kernel/app.ts';
import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { conflict } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { errorOf } from '../../kernel/present.ts';
import { summaryPrefix } from '../backup/ages.ts';
import { examine } from '../doctor/doctor.ts';
import { externalProblems } from '../doctor/external.ts';
import { failureOf, type Program, runCommand } from './program.ts';
import { requireStaff } from './requests.ts';

/** Maximum number of findings. */
const maxLines = 200;

/** The result of an examination in responses. */
interface Findings {
  readonly state: 'never' | 'running' | 'done' | 'failed';
  readonly started: string | null;
  readonly finished: string | null;
  /** One line each. */
  readonly findings: readonly string[];
  readonly error_message: string;
}

/** Whether a line of `tenantry doctor` is a finding. */
const isFinding = (line: string): boolean => line !== '' && line !== 'no problems' && !line.startsWith(summaryPrefix);

const none: Findings = { state: 'never', started: null, finished: null, findings: [], error_message: '' };

/** Runs `tenantry doctor` in a child process, without repair, and stores the last result. */
export class Examination {
  #findings: Findings = none;
  #stop: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  get findings(): Findings {
    return this.#findings;
  }

  /** Starts an examination. Throws 409. */
  start(app: App, program: Program | undefined): void {
    if (this.#findings.state === 'running') throw conflict('The data is being examined already.');
    const isInMemory = app.deployment.backups === undefined;
    if (!program && !isInMemory) throw conflict('The program that embeds this server examines the data itself.');
    this.#findings = { ...none, state: 'running', started: this.#now() };
    if (isInMemory || !program) {
      // Data in memory is small enough to examine in this process.
      setImmediate(() => this.#settle(() => [...examine(app, false).problems, ...externalProblems(app)]));
      return;
    }
    const { result, stop } = runCommand(program, ['doctor']);
    this.#stop = stop;
    void result.then((exit) =>
      this.#settle(() => {
        const lines = exit.stdout.split('\n').filter(isFinding);
        if (exit.stderr !== '' || (exit.code !== 0 && lines.length === 0)) throw new Error(failureOf(exit));
        return lines;
      }),
    );
  }

  /** Stops a running examination. */
  close(): void {
    this.#stop?.();
  }

  #settle(read: () => readonly string[]): void {
    this.#stop = undefined;
    const { started } = this.#findings;
    try {
      const findings = read().slice(0, maxLines);
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
  description: 'Problems that `tenantry doctor` finds in the data.',
  actions: (request) => (staff.may(request, undefined) ? { POST: {} } : undefined),
  operations: {
    GET: {
      summary: 'Returns the result of the last requested examination.',
      allowedFor: staff.allowedFor,
      output: { status: 200, shape: findingsShape },
      rejections: { 403: true },
      handle: (request) => {
        requireStaff(request);
        return json(request.app.deployment.examination.findings);
      },
    },
    POST: {
      summary: 'Starts an examination of the data in a separate process, without repair.',
      unaudited: 'It examines the data and changes nothing.',
      allowedFor: staff.allowedFor,
      output: { status: 202, shape: findingsShape },
      rejections: { 409: true },
      isHandledOnce: true,
      handle: (request) => {
        requireStaff(request);
        const { deployment } = request.app;
        deployment.examination.start(request.app, deployment.program);
        return json(deployment.examination.findings, 202);
      },
    },
  },
};
