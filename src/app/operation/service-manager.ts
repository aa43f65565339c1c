/** The service manager of Linux (sd_notify(3)), which is told by its own program: Node.js has no sockets of that kind. */
import { spawn } from 'node:child_process';
import type { Log } from '../../kernel/log.ts';

/** What a service manager is told. */
interface ServiceManager {
  readonly ready: () => void;
  readonly stopping: () => void;
}

/**
 * The service manager that started this process with an environment; undefined where none waits to hear of it. Between `ready`
 * and `stopping` a watchdog, where there is one, hears of the process as long as that is alive.
 */
export function serviceManager(
  { NOTIFY_SOCKET: socket, WATCHDOG_PID: watched, WATCHDOG_USEC: span }: NodeJS.ProcessEnv,
  log: Log,
  isAlive: () => boolean,
): ServiceManager | undefined {
  if (!socket) return undefined;
  let hasWarned = false;
  const warn = (reason: string): void => {
    if (!hasWarned) log.warn({ reason }, 'the service manager cannot be told of the server by systemd-notify');
    hasWarned = true;
  };
  const tell = (state: string): void => {
    const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
    child.on('error', ({ message }) => warn(message));
    child.on('exit', (code) => code !== 0 && warn(`it ended with ${code}`));
    // Nobody waits for it.
    child.unref();
  };
  const isWatched = Number(span) > 0 && (watched === undefined || Number(watched) === process.pid);
  let timer: NodeJS.Timeout | undefined;
  return {
    ready: () => {
      tell('READY=1');
      // Microseconds; it expects to hear of the process twice within them.
      if (isWatched) timer = setInterval(() => isAlive() && tell('WATCHDOG=1'), Number(span) / 2000).unref();
    },
    stopping: () => {
      clearInterval(timer);
      tell('STOPPING=1');
    },
  };
}
