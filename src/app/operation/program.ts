/** Runs commands of this program in child processes. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { environmentName, type SettingName } from '../../kernel/config/config.ts';
import type { Sources } from '../../kernel/config/load.ts';
import { settingNames, sourceOf } from '../settings.ts';

/** How to run a command of the program. */
export interface Program {
  readonly file: string;
  /** Arguments before those of the command. */
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** Services of the process that runs a server. */
export interface HostProcess {
  /** Returns the source of a setting; undefined for a default. */
  readonly sourceOf: (name: SettingName) => string | undefined;
  /** How to invoke the program with the same settings; undefined if the server is embedded in another program. */
  readonly program?: Program | undefined;
  /** Advances the clock by milliseconds; undefined without a settable clock. Rejects. */
  readonly advance?: ((milliseconds: number) => Promise<void>) | undefined;
  /** The logins to try; undefined unless the server started with sample data. */
  readonly demo?: DemoLogins | undefined;
}

/** Users of the sample data by their rights, and the password of all of them. */
export interface DemoLogins {
  readonly password: string;
  readonly logins: readonly { readonly username: string; readonly role: string }[];
}

/** Returns how to run this program again with the same settings, and their sources. */
export const hostProcessOf = (sources: Sources): Pick<HostProcess, 'program' | 'sourceOf'> => ({
  program: { ...executable(), environment: environmentOf(sources) },
  sourceOf: (name) => sourceOf(name, sources),
});

/** A single executable is its own script; otherwise Node.js runs the script. */
function executable(): Pick<Program, 'file' | 'args'> {
  const file = process.execPath;
  const script = process.argv[1] ?? file;
  const isSingleExecutable = realpathSync(script) === realpathSync(file);
  return { file, args: isSingleExecutable ? [] : [...process.execArgv, script] };
}

/** Returns the environment with the settings from options and the file as variables. */
function environmentOf({ env = {}, file, options = {} }: Sources): NodeJS.ProcessEnv {
  const environment = { ...env };
  for (const name of settingNames) {
    const variable = environmentName(name);
    const option = options[name];
    const line = file?.get(name);
    const secret = `${variable}_FILE`;
    if (option !== undefined) {
      environment[variable] = option;
      delete environment[secret];
    } else if (line && !environment[variable] && !environment[secret]) environment[variable] = line.text;
  }
  return environment;
}

interface ExitResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Maximum number of characters to keep of each output stream. */
const maxOutput = 64 * 1024;

/** Runs a command in a child process. `result` never rejects; `stop` terminates the process. */
export function runCommand(
  { args, environment, file }: Program,
  command: readonly string[],
): { readonly result: Promise<ExitResult>; readonly stop: () => void } {
  const child = spawn(file, [...args, ...command], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      if (output[name].length < maxOutput) output[name] += chunk.toString();
    });
  const result = new Promise<ExitResult>((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }));
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { result, stop: () => void child.kill() };
}

/** Returns the error of a command, without the program name. Lines of its log can precede it. */
export function failureOf({ code, stderr }: ExitResult): string {
  const lines = stderr.split('\n');
  const line = lines.findLast((one) => one.startsWith(commandPrefix)) ?? lines[0] ?? '';
  return line.replace(commandPrefix, '') || `It exited with code ${code}.`;
}

/** Begins the error of a command. */
const commandPrefix = 'tenantry: ';
