import { basename } from 'node:path';
import { version } from '../../kernel/app.ts';
import { builtFor } from '../../kernel/native/embedded.ts';
import { platformHere } from '../../kernel/native/platform.ts';
import type { Setup } from './setup.ts';

/** The Node.js version for images with the npm package. */
const currentNode = 24;

const majorOf = (node: string): number => Number(node.split('.', 1)[0]);

/** The base image, and how the program is installed in it. */
interface Installation {
  readonly image: string;
  /** Shell commands before `docker build`. */
  readonly preparation: string;
  readonly steps: string;
  /** The command that starts the program in the image. */
  readonly program: readonly string[];
}

/**
 * Installs the single program file next to the Dockerfile if it runs on the current Node.js. Otherwise installs the npm package
 * on Linux x64 with glibc, or, on other platforms, the program file with the Node.js version that it was built for.
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
      preparation: '',
      steps: `COPY ${file} ${installed}`,
      program: ['node', installed],
    };
  }
  const archive = `tenantry-${version}.tgz`;
  return {
    image: `node:${currentNode}-${distribution}`,
    preparation: 'npm pack && ',
    steps: `COPY ${archive} /tmp/\nRUN npm install --global --offline --no-audit --no-fund /tmp/${archive} && rm /tmp/${archive}`,
    program: ['tenantry'],
  };
}

/** Returns a Dockerfile with the current settings. */
export function dockerfile({ config, program: invocation }: Setup): string {
  const { port } = config;
  const { image, preparation, program, steps } = installation(basename(invocation.at(-1) ?? ''));
  const words = (...more: readonly string[]): string => JSON.stringify([...program, ...more]).replaceAll(',', ', ');
  return `# ${preparation}docker build -t tenantry .
# docker run --name tenantry --init --restart unless-stopped -d -p ${port}:${port} -v tenantry:/data tenantry
# To choose the first password, open the link first_login of the start within 30 minutes, in a browser on this machine:
# docker logs tenantry
# Or read the password of the user admin:
# docker exec tenantry cat /data/initial-password
FROM ${image}
${steps}
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
ENV TENANTRY_DATA=/data TENANTRY_HOST=0.0.0.0 TENANTRY_PORT=${port}
# Health and metrics are on the loopback of the container. Only for a Prometheus in another container:
# ENV TENANTRY_ADMIN_LISTEN=0.0.0.0:9480
EXPOSE ${port}
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ${words('healthcheck')}
ENTRYPOINT ${words()}
CMD ["serve"]
`;
}
