import { realpathSync } from 'node:fs';
import { environmentName } from '../../kernel/config/config.ts';
import type { Sources } from '../../kernel/config/load.ts';
import { settingNames, sourceOf } from '../settings.ts';
import type { ProgramCall } from './beside.ts';
import type { Surroundings } from './deployment.ts';

/** How this process was called, so that the program can be called again with the same settings. */
export const callOf = (sources: Sources): Pick<Surroundings, 'program' | 'sourceOf'> => ({
  program: { ...programCall(), environment: environmentOf(sources) },
  sourceOf: (name) => sourceOf(name, sources),
});

/** An executable is its own program; else Node.js is told which. */
function programCall(): Pick<ProgramCall, 'file' | 'words'> {
  const [file, script = process.execPath] = [process.execPath, process.argv[1]];
  const isOwn = realpathSync(script) === realpathSync(file);
  return { file, words: isOwn ? [] : [...process.execArgv, script] };
}

/** The environment with all settings that were given otherwise. */
function environmentOf({ env = {}, file, options = {} }: Sources): NodeJS.ProcessEnv {
  const environment = { ...env };
  for (const name of settingNames) {
    const [variable, option, line] = [environmentName(name), options[name], file?.get(name)];
    const secret = `${variable}_FILE`;
    if (option !== undefined) {
      environment[variable] = option;
      delete environment[secret];
    } else if (line && !environment[variable] && !environment[secret]) environment[variable] = line.text;
  }
  return environment;
}
