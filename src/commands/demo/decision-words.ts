// Lines of the controller's log, in the words of somebody who looks over its shoulder.
import type { LogLine } from './controller-process.ts';

type Text = (name: string) => string;

const words: Readonly<Record<string, (text: Text) => string>> = {
  leading: (text) => `the controller leads, and knows ${text('nodes')} nodes`,
  'read the cloud': (text) => `it has read the cloud in ${text('seconds')} s`,
  'gave a node addresses': (text) =>
    `${text('node')}: ${addresses(text)} on ${text('interface')} (${text('seconds')} s)`,
  'gave a node an interface': (text) =>
    `${text('node')}: a new interface ${text('interface')} with ${addresses(text)} (${text('seconds')} s)`,
  'gave a node an interface that was left over': (text) =>
    `${text('node')}: ${text('interface')} with ${addresses(text)}, which was left over (${text('seconds')} s)`,
  'took back addresses of a node': (text) =>
    `${text('node')}: took back ${addresses(text)} from ${text('interface')} (${text('seconds')} s)`,
  'node does not get what it needs': (text) => `${text('node')}: ${text('why')}`,
  'node is no longer held back': (text) => `${text('node')} is no longer held back`,
  'could not give a node addresses': tryAgain,
  'could not give a node an interface': tryAgain,
  'could not give a node an interface that was left over': tryAgain,
};

/** Undefined for lines that say nothing to people who watch. */
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

function addresses(text: Text): string {
  const count = text('addresses');
  return count === '1' ? '1 address' : `${count} addresses`;
}
