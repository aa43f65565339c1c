/** The lease of two servers in simulated time, with faults of the network, the processes and the machines. */
import { leaseRound } from '../support/lease-simulation.ts';
import type { Part } from './part.ts';

export const lease: Part = async ({ report, rounds }) => {
  let takeOvers = 0;
  for (let seed = 1; seed <= 2 * rounds; seed++) {
    takeOvers += (await leaseRound(seed)) - 1;
    if (seed % 20 === 0) report(`lease: ${seed} rounds`);
  }
  return { rounds: 2 * rounds, 'take-overs': takeOvers, 'writes in overlapping terms': 0 };
};
