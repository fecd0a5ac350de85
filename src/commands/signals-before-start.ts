// Ends a process that serves while its command is being loaded: nothing is to be shut down yet. The first import of the program,
// because the others take time. A command replaces it by listeners of its own.
import { exitCode } from './exit-code.ts';

const serving = ['run', 'nodeipam', 'agent'];

if (serving.includes(process.argv[2] ?? ''))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const end = (): void => {
      if (process.listenerCount(signal) === 1) process.exit(exitCode.fine);
    };
    process.once(signal, end);
  }
