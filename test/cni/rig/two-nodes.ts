// Two machines with a cable between them, and what joins the pods of one with those of the other.
import { must, type NodeMachine } from './node-machine.ts';

interface AddAnswer {
  readonly ips: readonly { readonly address: string }[];
}

const addresses = ['192.168.7.1', '192.168.7.2'] as const;

/** Connects both with a cable. */
export async function connect(one: NodeMachine, other: NodeMachine): Promise<void> {
  const cable = ['link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', other.name];
  await must('ip', '-n', one.name, ...cable);
  for (const [index, { name }] of [one, other].entries()) {
    await must('ip', '-n', name, 'addr', 'add', `${addresses[index]}/24`, 'dev', 'cable');
    await must('ip', '-n', name, 'link', 'set', 'cable', 'up');
  }
}

/** Routes the block of each to the other: the agents do not. Resolves to the blocks. */
export async function route(one: NodeMachine, other: NodeMachine): Promise<readonly [string, string]> {
  const blocks = [await blockOf(one), await blockOf(other)] as const;
  await must('ip', '-n', one.name, 'route', 'add', blocks[1], 'via', addresses[1]);
  await must('ip', '-n', other.name, 'route', 'add', blocks[0], 'via', addresses[0]);
  return blocks;
}

/** The first address that an ADD printed. */
export function addressIn(out: string): string {
  return (JSON.parse(out) as AddAnswer).ips[0]?.address.split('/')[0] ?? '';
}

async function blockOf(node: NodeMachine): Promise<string> {
  const { body } = await node.ask('/v1/ipam');
  return (body as { pools: { cidrs: string[] }[] }).pools[0]?.cidrs[0] ?? '';
}
