// How many functions, in how many files, a reader enters between an event and its call: pods appear on a node that has what it
// needs, and V8 counts which functions of the product run from then on until the first call that changes something in EC2. The
// Lease, Events and options have a path of their own and do not count.
import { Session } from 'node:inspector';
import { expect, test } from '@jest/globals';
import type { Cloud, CloudDeps } from '../../../src/controller/clouds/cloud.ts';
import type { CallingProcess } from '../../support/cluster-world.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController } from '../../support/world-controller.ts';

const root = new URL('../../../', import.meta.url).pathname;
const elsewhere = /^src\/(?:simulator|commands|config|kubernetes\/(?:lease|events))\//;

/** A script, and the functions of it that ran since the last answer. */
interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}

class Coverage {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** The functions of the product that ran since the last call, by file. */
  take(): ReadonlyMap<string, readonly string[]> {
    let scripts: readonly Script[] = [];
    // A session with its own thread answers before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_, { result }) => (scripts = result));
    const entered = new Map<string, readonly string[]>();
    for (const { url, functions } of scripts) {
      const file = url.replace(/^file:\/\//, '').replace(root, '');
      const ran = functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0);
      if (!file.startsWith('src/') || elsewhere.test(file) || ran.length === 0) continue;
      entered.set(
        file,
        ran.map(({ functionName }) => functionName || '(anonymous)'),
      );
    }
    return entered;
  }

  stop(): void {
    this.#session.disconnect();
  }
}

class MeasuredWorld extends World {
  onChange: () => void = () => undefined;

  override connect(process: CallingProcess): (deps: CloudDeps) => Cloud {
    return super.connect({
      ...process,
      pass: (action, isChange, send) => {
        if (isChange) this.onChange();
        return process.pass(action, isChange, send);
      },
    });
  }
}

test('pods lead to their call through at most 420 functions in 90 files', async () => {
  const world = new MeasuredWorld({ cloud: testCloud({ instances: [instance({ type: 'm5.xlarge' })] }) });
  const machine = world.machine();
  startController(world, { flags: { 'leader-election': 'false' } });
  await world.announce(machine);
  await world.advance(300_000);
  const coverage = new Coverage();
  let entered: ReadonlyMap<string, readonly string[]> | undefined;
  world.onChange = () => (entered ??= coverage.take());
  coverage.take();

  await world.addPods(machine, { count: 30 });
  await world.until('EC2 is called', () => entered !== undefined);

  coverage.stop();
  const files = [...(entered ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const functions = files.reduce((sum, [, names]) => sum + names.length, 0);
  // HEADWATER_TEST_SHOW=entered lists them.
  if (process.env['HEADWATER_TEST_SHOW'] === 'entered')
    process.stderr.write(files.map(([file, names]) => `${file}: ${names.join(', ')}\n`).join(''));
  expect(functions).toBeGreaterThan(100);
  expect(functions).toBeLessThanOrEqual(420);
  expect(files.length).toBeLessThanOrEqual(90);
});
