// Runs the command demo: reads its flags and chooses where to show it.
import type { RawFlags } from '../config/raw-option.ts';
import { integer } from '../config/value-kinds.ts';
import { demoCloudNames, isDemoCloud } from './demo/controller-options.ts';
import { Demonstration } from './demo/demonstration.ts';
import { liveScreen, plainScreen, type Screen } from './demo/screen.ts';
import { exitCode } from './exit-code.ts';

export async function demo(given: RawFlags): Promise<number> {
  const text = given.get('nodes')?.at(-1) ?? '50';
  const nodes = integer({ least: 4, most: 100 }).parse(text);
  if (nodes === undefined) {
    process.stderr.write(
      `headwater demo: --nodes is ${JSON.stringify(text)}; accepted: a whole number from 4 to 100\n`,
    );
    return exitCode.usage;
  }
  const cloud = given.get('cloud')?.at(-1) ?? 'aws';
  if (!isDemoCloud(cloud)) {
    process.stderr.write(
      `headwater demo: --cloud is ${JSON.stringify(cloud)}; accepted: ${demoCloudNames.join(', ')}\n`,
    );
    return exitCode.usage;
  }
  const interrupt = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) process.exit(exitCode.interrupted); // a second signal means: exit now
      interrupt.abort();
    });
  }
  const show = new Demonstration({
    cloud,
    nodes,
    seed: given.get('seed')?.at(-1) ?? 'headwater',
    keepRunning: given.has('keep-running'),
    prometheus: given.has('prometheus'),
    screen: screenFor(given.has('plain')),
    interrupt: interrupt.signal,
  });
  return show.run();
}

function screenFor(plain: boolean): Screen {
  const { stdout } = process;
  const terminal = {
    write: (text: string): void => void stdout.write(text),
    // 0 means that the size is unknown.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
  };
  return plain || !stdout.isTTY ? plainScreen(terminal) : liveScreen(terminal);
}
