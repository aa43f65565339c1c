/** Node.js loads the program, like any package. */
export default { test: { include: ['*.spec.ts'], server: { deps: { external: [/tenantry\.mjs/] } } } };
