import { describe, expect, test } from '@jest/globals';
import type { ObservedPage } from '../../../../src/providers/contract/cloud.ts';
import { InstanceRefresh } from '../../../../src/providers/inventory/instance-refresh.ts';
import { Inventory } from '../../../../src/providers/inventory/inventory.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { attachment, networkInterface } from '../interfaces.ts';
import { scriptedImplementation } from '../scripted-implementation.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly inventory: Inventory;
  readonly refresher: InstanceRefresh;
  readonly asked: string[];
  readonly changed: string[][];
  readonly failures: string[];
}

type Pages = (
  instanceIds: readonly string[],
  clock: VirtualClock,
  signal: AbortSignal,
) => AsyncIterable<ObservedPage>;

function rig(pages: Pages, tracked: readonly string[] = ['i-1', 'i-2']): Rig {
  const clock = new VirtualClock();
  const inventory = new Inventory({ consistencyWindow: 1000 });
  for (const id of tracked) inventory.track(id);
  const asked: string[] = [];
  const changed: string[][] = [];
  const failures: string[] = [];
  const reader = {
    implementation: scriptedImplementation({
      maxInstancesPerRefresh: 2,
      observe: (scope, { signal }) => {
        const ids = scope.kind === 'instances' ? scope.instanceIds : [];
        asked.push(`${ids.join()}@${clock.monotonic()}`);
        return pages(ids, clock, signal);
      },
    }),
    clock,
    random: new Random('looks'),
  };
  const refresher = new InstanceRefresh(reader, inventory, 1000, (event) => {
    if (event.kind === 'read') changed.push([...event.changed].sort());
    if (event.kind === 'failed')
      failures.push(`${(event.error as Error).message}:${event.instanceIds.join()}`);
  });
  return { clock, inventory, refresher, asked, changed, failures };
}

function shown(id: string, instanceId: string): ObservedPage['observations'][number] {
  return { kind: 'interface', interface: networkInterface({ id, attachment: attachment({ instanceId }) }) };
}

describe('refreshes of instances', () => {
  test('share calls when they are requested together, and are applied when they are answered', async () => {
    const { clock, inventory, refresher, asked, changed } = rig(
      async function* (ids, clock) {
        await Promise.resolve();
        yield {
          startedAt: clock.monotonic(),
          observations: ids.map((id) => shown(`eni of ${id}`, id)),
        };
      },
      ['i-1', 'i-2', 'i-3'],
    );
    let known: (string | undefined)[] = [];

    void Promise.all(['i-1', 'i-2'].map((id) => refresher.request(id))).then(() => {
      known = ['i-1', 'i-2'].map((id) => inventory.view(id)?.interfaces[0]?.id);
    });
    void refresher.request('i-3');
    await clock.advance(1000);

    expect(asked).toEqual(['i-1,i-2@50', 'i-3@100']);
    expect(known).toEqual(['eni of i-1', 'eni of i-2']);
    expect(changed).toEqual([['i-1', 'i-2'], ['i-3']]);
  });

  test('start when their first page is requested', async () => {
    const { clock, inventory, refresher } = rig(async function* (_, clock, signal) {
      yield { startedAt: clock.monotonic(), observations: [shown('eni-1', 'i-1')] };
      await sleep(clock, 500, signal);
      yield { startedAt: clock.monotonic(), observations: [shown('eni-2', 'i-1')] };
    });

    void refresher.request('i-1');
    await clock.advance(100);
    inventory.invalidate('i-1', clock.monotonic());
    await clock.advance(1000);

    expect(inventory.view('i-1')).toMatchObject({
      interfaces: [{ id: 'eni-1' }, { id: 'eni-2' }],
      refreshDue: 100,
    });
  });

  test('change nothing and are repeated when they fail', async () => {
    let calls = 0;
    const { clock, inventory, refresher, changed, failures } = rig(async function* (_, clock) {
      yield { startedAt: clock.monotonic(), observations: [shown('eni-1', 'i-1')] };
      await Promise.resolve();
      if (calls++ === 0) throw new Error('down');
    });

    void refresher.request('i-1');
    await clock.advance(60);
    const read = inventory.view('i-1')?.read;
    await clock.advance(5000);

    expect(read).toBe(false);
    expect(failures).toEqual(['down:i-1']);
    expect(changed).toEqual([['i-1']]);
  });

  test('are repeated until one shows an awaited interface attached, whatever others fail meanwhile', async () => {
    const second = (state: 'attaching' | 'attached') =>
      ({
        kind: 'interface',
        interface: networkInterface({ id: 'eni-2', attachment: attachment({ deviceIndex: 1, state }) }),
      }) as const;
    const { clock, inventory, refresher, asked } = rig(async function* (ids, clock) {
      await Promise.resolve();
      if (ids.includes('i-2')) throw new Error('down');
      const state = clock.monotonic() < 2000 ? 'attaching' : 'attached';
      yield { startedAt: clock.monotonic(), observations: [shown('eni-1', 'i-1'), second(state)] };
    });
    inventory.applyRefresh({
      startedAt: 0,
      endedAt: 0,
      instanceIds: ['i-1'],
      observations: [shown('eni-1', 'i-1'), second('attaching')],
    });

    refresher.awaitAttachment('i-1', 0);
    void refresher.request('i-2');
    await clock.advance(20_000);

    expect(asked.filter((each) => each.startsWith('i-1'))).toEqual(['i-1@50', 'i-1@1050', 'i-1@2050']);
    expect(inventory.view('i-1')?.awaited.size).toBe(0);
  });

  test('are aborted when they are stopped', async () => {
    const { clock, inventory, refresher } = rig(async function* (_, clock, signal) {
      await sleep(clock, 60_000, signal);
      yield { startedAt: 0, observations: [] };
    });
    void refresher.request('i-1');
    await clock.advance(100);

    await refresher.stop();

    expect(clock.monotonic()).toBe(100);
    expect(inventory.view('i-1')?.read).toBe(false);
  });
});
