// Where the program begins: what this process is given goes to the command line, and its exit code back.
import './commands/signals-before-start.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { CommandDescription } from './commands/command-description.ts';
import { runCommandLine } from './commands/command-line.ts';
import { completion, completionDescription } from './commands/completion.ts';
import { demoDescription } from './commands/demo-description.ts';
import { exitCode } from './commands/exit-code.ts';
import {
  agentDescription,
  checkDescription,
  nodeIpamDescription,
  runDescription,
} from './commands/run-description.ts';
import { maxPodsDescription } from './commands/max-pods-description.ts';
import { planDescription, snapshotDescription } from './commands/plan-description.ts';
import { simulateDescription } from './commands/simulate-description.ts';
import { explainDescription, statusDescription } from './commands/status-description.ts';

// Not by --enable-source-maps: with that flag the logger reads, as it is made, the map of the file that makes it. What is
// imported above is loaded before, and keeps the lines of the bundle: the maps of the command line cost 6 MB.
process.setSourceMapsEnabled(true);

/** Whether the command only asks, so that its exit code is the answer. */
function isAsking(command: string | undefined): boolean {
  const asking = [
    statusDescription,
    explainDescription,
    checkDescription,
    maxPodsDescription,
    planDescription,
    snapshotDescription,
  ];
  return asking.some(({ name }) => name === command);
}

/** Ends the process if nothing more can be written, because its disk is full. A reader that is gone is told apart. */
function endIfOutputIsFull(error: unknown): void {
  const { syscall, code = '', message = '' } = error as Partial<NodeJS.ErrnoException>;
  if (syscall !== 'write' || !['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(code)) return;
  try {
    const why = /^\w+: (.*), write$/.exec(message)?.[1] ?? code;
    process.stderr.write(`headwater: cannot write its output: ${why}\n`);
  } finally {
    // Where 1 says what was found, nothing was.
    process.exit(isAsking(process.argv[2]) ? exitCode.unanswered : exitCode.failure);
  }
}

// The reader of the output is gone, as `| head` is after its lines: commands that run on shut down, others end.
let outputIsLost = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    endIfOutputIsFull(error);
    if (error.code !== 'EPIPE') throw error;
    if (!outputIsLost) process.emit('SIGTERM', 'SIGTERM');
    outputIsLost = true;
  });
}

const commands: readonly CommandDescription[] = [
  { ...runDescription, run: async (given) => (await import('./commands/run.ts')).run(given) },
  {
    ...nodeIpamDescription,
    run: async (given) => (await import('./commands/run.ts')).nodeIpam(given),
  },
  { ...agentDescription, run: async (given) => (await import('./commands/agent.ts')).agent(given) },
  {
    ...statusDescription,
    run: async (given) => (await import('./commands/status.ts')).status(given),
  },
  {
    ...explainDescription,
    run: async (given) => (await import('./commands/status.ts')).explain(given),
  },
  {
    ...checkDescription,
    run: async (given) => (await import('./commands/check.ts')).check(given),
  },
  {
    ...maxPodsDescription,
    run: async (given) => (await import('./commands/max-pods.ts')).maxPods(given),
  },
  {
    ...snapshotDescription,
    run: async (given) => (await import('./commands/plan.ts')).snapshot(given),
  },
  { ...planDescription, run: async (given) => (await import('./commands/plan.ts')).plan(given) },
  {
    ...simulateDescription,
    run: async (given) => (await import('./commands/simulate.ts')).simulate(given),
  },
  { ...demoDescription, run: async (given) => (await import('./commands/demo.ts')).demo(given) },
];

const code = await runCommandLine(process.argv.slice(2), {
  version: packageJson.version,
  commands: [
    ...commands,
    {
      ...completionDescription,
      run: (given) => Promise.resolve(completion(given.get('shell')?.at(-1) ?? '', commands)),
    },
  ],
  terminal: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    columns: process.stdout.columns,
    readers: process.stderr.isTTY ? 'people' : 'programs',
  },
}).catch((error: unknown) => {
  endIfOutputIsFull(error);
  throw error;
});
process.exitCode = code;
// A connection or timer that nobody ended must not keep a process alive whose work has ended.
AbortSignal.timeout(5000).addEventListener('abort', () => process.exit());
