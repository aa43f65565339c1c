/** Notifies systemd (sd_notify(3)) through `systemd-notify`, because Node.js has no Unix datagram sockets. */
import { spawn } from 'node:child_process';
import type { Log } from '../../kernel/log.ts';

/** The notifications. */
interface ServiceManager {
  readonly ready: () => void;
  readonly stopping: () => void;
}

/**
 * Returns the service manager named in the environment; undefined without one. Between `ready` and `stopping`, notifies its
 * watchdog while the process is alive.
 */
export function serviceManager(
  { NOTIFY_SOCKET: socket, WATCHDOG_PID: watchdogPid, WATCHDOG_USEC: watchdogUsec }: NodeJS.ProcessEnv,
  log: Log,
  isAlive: () => boolean,
): ServiceManager | undefined {
  if (!socket) return undefined;
  let hasWarned = false;
  const warn = (reason: string): void => {
    if (!hasWarned) log.warn({ reason }, 'failed to notify the service manager by systemd-notify');
    hasWarned = true;
  };
  const notify = (state: string): void => {
    const child = spawn('systemd-notify', [state], { stdio: 'ignore' });
    child.on('error', ({ message }) => warn(message));
    child.on('exit', (code) => code !== 0 && warn(`it exited with code ${code}`));
    // Do not keep the process alive for it.
    child.unref();
  };
  const isWatched = Number(watchdogUsec) > 0 && (watchdogPid === undefined || Number(watchdogPid) === process.pid);
  let timer: NodeJS.Timeout | undefined;
  return {
    ready: () => {
      notify('READY=1');
      // WATCHDOG_USEC has microseconds. systemd recommends two notifications within that time.
      if (isWatched) timer = setInterval(() => isAlive() && notify('WATCHDOG=1'), Number(watchdogUsec) / 2000).unref();
    },
    stopping: () => {
      clearInterval(timer);
      notify('STOPPING=1');
    },
  };
}
