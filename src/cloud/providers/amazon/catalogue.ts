import { createHash } from 'node:crypto';
import type { SimulatedProperty } from '../../catalogue/simulation.ts';

/* Regions, sizes and images of Amazon (providers.md 6.2). The simulator and the driver share the regions and sizes. */

/** Regions by code. */
export const regions: readonly SimulatedProperty[] = (
  [
    ['us-east-1', 'US East (N. Virginia)'],
    ['us-west-2', 'US West (Oregon)'],
    ['us-west-1', 'US West (N. California)'],
    ['eu-west-1', 'EU (Ireland)'],
    ['eu-central-1', 'EU (Frankfurt)'],
    ['ap-south-1', 'Asia Pacific (Mumbai)'],
    ['ap-southeast-1', 'Asia Pacific (Singapore)'],
    ['ap-southeast-2', 'Asia Pacific (Sydney)'],
    ['ap-northeast-1', 'Asia Pacific (Tokyo)'],
    ['ap-northeast-2', 'Asia Pacific (Seoul)'],
    ['sa-east-1', 'South America (Sao Paulo)'],
  ] as const
).map(([code, name]) => ({ backend_id: code, name, details: {} }));

const everywhere = regions.map(({ backend_id: code }) => code);
const withoutThirdGeneration = ['ap-south-1', 'ap-northeast-2'];

/** Sizes by code: memory and root volume in MiB. */
export const sizes: readonly SimulatedProperty[] = (
  [
    ['t2.nano', 'Burstable performance, nano', 1, 512, 8192],
    ['t2.micro', 'Burstable performance, micro', 1, 1024, 8192],
    ['t2.small', 'Burstable performance, small', 1, 2048, 8192],
    ['t2.medium', 'Burstable performance, medium', 2, 4096, 8192],
    ['t2.large', 'Burstable performance, large', 2, 8192, 8192],
    ['m4.large', 'General purpose, large', 2, 8192, 16384],
    ['m4.xlarge', 'General purpose, extra large', 4, 16384, 16384],
    ['m4.2xlarge', 'General purpose, double extra large', 8, 32768, 16384],
    ['c4.large', 'Compute optimized, large', 2, 3840, 16384],
    ['c4.xlarge', 'Compute optimized, extra large', 4, 7680, 16384],
    ['r4.large', 'Memory optimized, large', 2, 15616, 16384],
    ['m3.medium', 'General purpose of the third generation, medium', 1, 3840, 4096],
    ['m3.large', 'General purpose of the third generation, large', 2, 7680, 32768],
  ] as const
).map(([code, description, cores, ram, disk]) => ({
  backend_id: code,
  name: code,
  details: {
    description,
    cores,
    ram,
    disk,
    regions: code.startsWith('m3.')
      ? everywhere.filter((region) => !withoutThirdGeneration.includes(region))
      : everywhere,
  },
}));

const imageNames = ['Amazon Linux 2', 'Ubuntu Server 16.04', 'Windows Server 2016'];

/** Images of the simulator, each with a different id per region. */
export const simulatedImages: readonly SimulatedProperty[] = everywhere.flatMap((region) =>
  imageNames
    .filter((name) => !(name.startsWith('Windows') && region === 'sa-east-1'))
    .map((name) => ({
      backend_id: `ami-${createHash('sha256').update(`${region} ${name}`).digest('hex').slice(0, 17)}`,
      name,
      details: { region },
    })),
);
