// Turns lines of the controller's log into sentences for spectators.
import type { LogLine } from './controller-process.ts';

type Text = (name: string) => string;

const words: Readonly<Record<string, (text: Text) => string>> = {
  leading: (text) => `the controller leads, and knows ${text('nodes')} nodes`,
  'read the cloud': (text) => `it has read the cloud in ${text('seconds')} s`,
  'assigned addresses': (text) =>
    `${text('node')}: ${addresses(text)} on ${text('interface')} (${text('seconds')} s)`,
  'attached new interface': (text) =>
    `${text('node')}: a new interface ${text('interface')} with ${addresses(text)} (${text('seconds')} s)`,
  'new interface is still being attached': stillAttaching,
  'orphaned interface is still being attached': stillAttaching,
  'attached orphaned interface': (text) =>
    `${text('node')}: ${text('interface')} with ${addresses(text)}, which was orphaned (${text('seconds')} s)`,
  'released addresses': (text) =>
    `${text('node')}: released ${addresses(text)} from ${text('interface')} (${text('seconds')} s)`,
  'node cannot be satisfied': (text) => `${text('node')}: ${text('why')}`,
  'node condition resolved': (text) => `${text('node')}: condition resolved`,
  'could not assign addresses': tryAgain,
  'could not attach new interface': tryAgain,
  'could not attach orphaned interface': tryAgain,
};

/** Undefined for lines without interest to spectators. */
export function inWords({ level, message, details }: LogLine): string | undefined {
  const known = words[message];
  if (known !== undefined) return known((name) => String(details[name]));
  return level === 'warn' || level === 'error' ? `${message} ${JSON.stringify(details)}` : undefined;
}

function tryAgain(text: Text): string {
  if (text('failure') === 'unreachable')
    return `${text('node')}: no answer to ${text('action')}; what became of it is looked up before anything is repeated`;
  return `${text('node')}: ${text('action')} answers ${text('code')}; it will be tried another way, or again`;
}

function stillAttaching(text: Text): string {
  return `${text('node')}: ${text('interface')} is still being attached after ${text('seconds')} s`;
}

function addresses(text: Text): string {
  const count = text('addresses');
  return count === '1' ? '1 address' : `${count} addresses`;
}
