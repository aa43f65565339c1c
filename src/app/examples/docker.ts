import { basename } from 'node:path';
import { platformHere } from '../../kernel/native/platform.ts';
import type { Setup } from './setup.ts';

/** A Dockerfile for the program's one file, which lies beside it: for the Node.js that it runs on here. */
export function dockerfile({ config, program }: Setup): string {
  const file = basename(program.at(-1) ?? '');
  const { libc, node } = platformHere();
  const [major] = node.split('.');
  const distribution = libc === 'musl' ? 'alpine' : 'bookworm-slim';
  const installed = `/usr/local/lib/${file}`;
  return `# docker build -t tenantry . && docker run -p ${config.port}:${config.port} -v tenantry:/data tenantry
FROM node:${major}-${distribution}
COPY ${file} ${installed}
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
ENV TENANTRY_DATA=/data TENANTRY_HOST=0.0.0.0 TENANTRY_PORT=${config.port}
# Health and metrics: on the loopback of the container. For a Prometheus in another one, and for nobody else:
# ENV TENANTRY_ADMIN_LISTEN=0.0.0.0:9480
EXPOSE ${config.port}
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s CMD ["node", "${installed}", "healthcheck"]
ENTRYPOINT ["node", "${installed}"]
CMD ["serve"]
`;
}
