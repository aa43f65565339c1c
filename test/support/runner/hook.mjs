/** Gives test files the uvu of this folder, which tells the runner what uvu itself keeps silent about. */
const own = new URL('./uvu.ts', import.meta.url).href;

export function resolve(specifier, context, next) {
  if (specifier !== 'uvu' || context.parentURL?.split('?')[0] === own) return next(specifier, context);
  return { url: own, shortCircuit: true };
}
