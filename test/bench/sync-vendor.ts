/** EC2's stand-in as a process of its own, with an account of the size that the benchmark asks for, each answer after 20 ms. */
import { Amazon } from '../vendors/amazon/stand-in.ts';
import { machines, otherVolumes, ownImages, pace } from './sync-size.ts';

const region = 'eu-central-1';
const zone = `${region}a`;
const vendor = await Amazon.start();
vendor.server.pace = pace;
vendor.callsPerSecond = undefined;
for (let i = 0; i < machines; i++) vendor.world.launch(region, `machine-${i}`);
for (let i = 0; i < otherVolumes; i++)
  vendor.world.addVolume({ region, zone, size: 8, type: 'gp2', tags: new Map(), attachment: undefined });
const [image] = vendor.world.images.filter((one) => one.region === region);
if (!image) throw new Error('The stand-in has no image');
vendor.world.images.push(
  ...Array.from({ length: ownImages }, (_, i) => ({
    ...image,
    id: `ami-${String(i).padStart(17, '0')}`,
    name: `image-${i}`,
  })),
);
process.send?.({ url: vendor.url });
process.on('disconnect', () => process.exit());
