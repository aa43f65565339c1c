import { basename } from 'node:path';
import { builtFor } from '../../kernel/native/embedded.ts';
import { platformHere } from '../../kernel/native/platform.ts';
import { version } from '../../kernel/version.ts';
import type { Setup } from './setup.ts';

/** The newest Node.js that the npm package runs on, and that images are made with. */
const currentNode = 24;

const majorOf = (node: string): number => Number(node.split('.', 1)[0]);

/** How the program gets into the image. */
interface Installation {
  readonly image: string;
  readonly before: string;
  readonly steps: string;
  /** The words that start it there. */
  readonly program: readonly string[];
}

/**
 * The program's one file, which lies beside the Dockerfile, where it runs on the current Node.js. Else the npm package, which
 * is for Linux on x64 with glibc; elsewhere the file with the Node.js that it was built for.
 */
function installation(file: string): Installation {
  const { arch, libc, node, os } = platformHere();
  const newest = Math.max(...Object.values(builtFor?.nodes ?? { here: node }).map(majorOf));
  const isPackaged = newest < currentNode && os === 'linux' && arch === 'x64' && libc === 'glibc';
  const distribution = libc === 'musl' ? 'alpine' : 'bookworm-slim';
  if (!isPackaged) {
    const installed = `/usr/local/lib/${file}`;
    return {
      image: `node:${newest}-${distribution}`,
      before: '',
      steps: `COPY ${file} ${installed}`,
      program: ['node', installed],
    };
  }
  const packed = `tenantry-${version}.tgz`;
  return {
    image: `node:${currentNode}-${distribution}`,
    before: 'npm pack && ',
    steps: `COPY ${packed} /tmp/\nRUN npm install --global --offline --no-audit --no-fund /tmp/${packed} && rm /tmp/${packed}`,
    program: ['tenantry'],
  };
}

/** A Dockerfile with the settings in force. */
export function dockerfile({ config, program: started }: Setup): string {
  const { port } = config;
  const { before, image, program, steps } = installation(basename(started.at(-1) ?? ''));
  const words = (...more: readonly string[]): string => JSON.stringify([...program, ...more]).replaceAll(',', ', ');
  return `# ${before}docker build -t tenantry .
# docker run --name tenantry --init --restart unless-stopped -d -p ${port}:${port} -v tenantry:/data tenantry
# The first password: open the link that the start prints as first_login, within 30 minutes, in a browser of this machine:
# docker logs tenantry
# Or read the password of the user admin:
# docker exec tenantry cat /data/initial-password
FROM ${image}
${steps}
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
ENV TENANTRY_DATA=/data TENANTRY_HOST=0.0.0.0 TENANTRY_PORT=${port}
# Health and metrics: on the loopback of the container. For a Prometheus in another one, and for nobody else:
# ENV TENANTRY_ADMIN_LISTEN=0.0.0.0:9480
EXPOSE ${port}
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ${words('healthcheck')}
ENTRYPOINT ${words()}
CMD ["serve"]
`;
}
