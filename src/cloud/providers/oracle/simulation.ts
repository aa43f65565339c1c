import type { SimulatedProperty, Simulation } from '../../catalogue/simulation.ts';
import { databaseTemplate, schemaTemplate } from './properties.ts';

const zones: readonly SimulatedProperty[] = ['Zone A', 'Zone B'].map((name, i) => ({
  backend_id: String(i + 1),
  name,
  details: {},
}));

const templates: readonly SimulatedProperty[] = (
  [
    ['Database small', databaseTemplate],
    ['Database large', databaseTemplate],
    ['Schema small', schemaTemplate],
  ] as const
).map(([name, type], i) => ({ backend_id: String(i + 1), name, details: { type } }));

/** Simulation of Oracle (providers.md 3.3, 3.4). */
export const simulation: Simulation = {
  properties: { Zone: zones, Template: templates },
  kinds: {
    Database: {
      id: (n) => String(n),
      transitionStates: {
        create: ['INITIATED'],
        start: ['STARTING'],
        stop: ['STOPPING'],
        restart: ['STOPPING', 'STARTING'],
        delete: ['DELETING'],
      },
      final: { create: 'RUNNING', start: 'RUNNING', stop: 'STOPPED', restart: 'RUNNING' },
    },
  },
};
