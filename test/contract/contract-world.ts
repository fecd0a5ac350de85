// What the cases of the contract begin with.
import type { LostEffect } from '../../src/simulator/cloud/faults.ts';
import type { CloudRig } from './cloud-rig.ts';
import { CloudSession } from './cloud-session.ts';

/** Until every read shows what is true, in ms. */
export const visible = 20_000;

/** The secondary addresses that an instance has in the model. */
export function truth({ network }: CloudRig, instanceId: string): readonly string[] {
  return [...network.interfaces.values()]
    .filter((item) => item.instanceId === instanceId)
    .flatMap(({ addresses, primaryAddress }) => addresses.filter((address) => address !== primaryAddress));
}

export function world(newRig: () => CloudRig): {
  readonly rig: CloudRig;
  readonly session: CloudSession;
  readonly first: string;
} {
  const rig = newRig();
  return { rig, session: new CloudSession(rig), first: rig.instanceIds[0] ?? '' };
}

/** When an answer is lost. */
export const effects: readonly (readonly [string, LostEffect])[] = [
  ['after it took effect', 'before'],
  ['before it could take effect', 'after'],
  ['and which takes effect 45 s later', 'late'],
];
