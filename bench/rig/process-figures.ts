// What Linux says of a process: proc(5).
import { readFile } from 'node:fs/promises';

/** Clock ticks in a second, the same on every Linux that Node.js runs on. */
const ticksPerSecond = 100;

/** Most resident memory that the process ever had, in bytes. */
export async function peakMemory(pid: number): Promise<number> {
  return peakMemoryIn(await readFile(`/proc/${pid}/status`, 'utf8'));
}

/** CPU time that the process has used, in seconds, of all its threads. */
export async function cpuTime(pid: number): Promise<number> {
  return cpuTimeIn(await readFile(`/proc/${pid}/stat`, 'utf8'));
}

/** VmHWM of the text of /proc/PID/status. Throws where it is not there. */
export function peakMemoryIn(status: string): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error('the status of the process has no VmHWM');
  return Number(kibibytes) * 1024;
}

/** utime and stime of the text of /proc/PID/stat. The name of the program in it may hold anything, spaces too. */
export function cpuTimeIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]];
  if (user === undefined || system === undefined)
    throw new Error('the statistics of the process are cut short');
  return (Number(user) + Number(system)) / ticksPerSecond;
}
