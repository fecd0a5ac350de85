// Describes the command status.
import { type CommandDescription, flagsUnder } from './command-description.ts';

export const statusDescription: Omit<CommandDescription, 'run'> = {
  name: 'status',
  summary: 'show whether the controller is well, and what it lacks',
  description:
    'Reads the status of a controller and shows it: who leads, whether it is ready, nodes by state, pods that wait, reasons, ' +
    'subnets or pools, rate limits, and what is paused or held. It changes nothing.\n\n' +
    'Its exit code is 0 if nothing is wrong, 1 if something is, and 2 if it could not find out.',
  flags: flagsUnder('Options:', [
    {
      name: 'address',
      value: { placeholder: 'host:port' },
      help: 'Where the controller serves its status, such as 127.0.0.1:9966.',
      notes: [],
    },
    {
      name: 'output',
      value: { placeholder: 'format' },
      help: 'How to print it. json is the answer of /status, unchanged.',
      notes: ['Accepted: text, json', 'Default: text.'],
    },
  ]),
};
