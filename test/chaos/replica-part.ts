/** The part `replica` of `npm run chaos`. */
import type { Given } from './part.ts';
import { type DrillFigures, drill, drillLasts, replicateLong } from './replica.ts';
import { followAndPromote } from './replica-follow.ts';

/** The drill with both targets, that with a follower, and the long run. */
export async function replica({ minutes, rounds, report }: Given): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const target of ['file', 's3'] as const) {
    let worst: DrillFigures = { writes: 0, missing: 0, milliseconds: 0 };
    let writes = 0;
    for (let round = 0; round < Math.max(1, rounds / 50); round++) {
      const matches = await drill(target, drillLasts);
      report(
        `${target}: ${matches.missing} of ${matches.writes} acknowledged writes are missing, all from the last ${matches.milliseconds} ms`,
      );
      writes += matches.writes;
      if (matches.milliseconds >= worst.milliseconds) worst = matches;
    }
    figures[`${target}: writes acknowledged`] = writes;
    figures[`${target}: missing at worst`] = worst.missing;
    figures[`${target}: milliseconds before the kill of the first of them`] = worst.milliseconds;
  }
  const { median, milliseconds, missing, readHere, writes } = await followAndPromote();
  report(
    `follower: ${writes} writes, ${readHere} read there; ${missing} are missing, all from the last ${milliseconds} ms`,
  );
  figures['follower: writes, each of them read'] = writes;
  figures['follower: reads that did not go to the primary'] = readHere;
  figures['follower: median milliseconds of these'] = median;
  figures['follower: missing in the promoted copy'] = missing;
  figures['follower: milliseconds before the kill of the first of them'] = milliseconds;
  const long = await replicateLong('file', minutes * 60);
  return {
    ...figures,
    [`writes acknowledged in ${minutes} minutes, none missing`]: long.writes,
    'of them rejected': long.rejected,
    'errors that Litestream reported': long.errors,
    'bytes of the log at its longest': long.maxLogBytes,
  };
}
