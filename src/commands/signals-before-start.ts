// Ends a process that serves while its command is being loaded: nothing is to be shut down yet. The first import of the program,
// because the others take time. Once a command listens itself, it shuts down in order instead.
import { exitCode } from './exit-code.ts';

const serving = ['run', 'nodeipam', 'agent'];

if (serving.includes(process.argv[2] ?? ''))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    // A listener that is called once is gone by then: what is counted is that of the command.
    const end = (): void => {
      if (process.listenerCount(signal) === 0) process.exit(exitCode.fine);
    };
    process.once(signal, end);
  }
