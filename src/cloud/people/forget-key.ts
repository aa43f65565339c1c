import { minute } from '../../kernel/clock.ts';
import type { JobHandler } from '../operations/job-handler.ts';
import { removeJob } from '../operations/jobs.ts';

const maxCalls = 5;

/** Deletes an uploaded key at a provider; gives up after a few attempts if the provider is unavailable. */
export const forgetKeyHandler: JobHandler = {
  call: async (_, job, driver) => {
    const { fingerprint }: { fingerprint: string } = JSON.parse(job.parameters);
    await driver.forgetKey?.(fingerprint);
    return ({ app }) => removeJob(app.db, job.id);
  },
  fail: ({ app }, job) => removeJob(app.db, job.id),
  repeatAfter: ({ retries }) => (retries + 1 < maxCalls ? minute : undefined),
};
