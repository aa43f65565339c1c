/** The program is Node's to load, as any package is. */
export default { test: { include: ['*.spec.ts'], server: { deps: { external: [/tenantry\.mjs/] } } } };
