// The chapters of the demonstration of blocks to nodes.
import type { BlockChapter, BlockDemonstration } from './block-demonstration.ts';

/** Networks by how many blocks of /24 they have together. */
const [few, many] = ['10.0.0.0/19,10.1.0.0/21', '10.0.0.0/19,10.1.0.0/21,10.2.0.0/18'] as const;
const small = { 'cluster-pool': few, 'multi-pool': few, nodeipam: '10.0.0.0/19' } as const;
const large = { 'cluster-pool': many, 'multi-pool': many, nodeipam: '10.0.0.0/17' } as const;

const gone = 5;
const burst = 20;

export function chaptersOf(show: BlockDemonstration): readonly BlockChapter[] {
  const { options } = show;
  return [
    { title: `${options.nodes} nodes join, and the pool runs dry`, play: () => runDry(show) },
    { title: 'a network is added, and the nodes that wait are served', play: () => addNetwork(show) },
    { title: 'a node is replaced under its name', play: () => replaceNode(show) },
    ...(show.isCiliumNodes
      ? [{ title: `${gone} machines vanish, and leave their CiliumNodes`, play: () => collect(show) }]
      : []),
    { title: `${burst} nodes join, and the controller is killed meanwhile`, play: () => killInBurst(show) },
  ];
}

interface Status {
  readonly waiting?: readonly { readonly name: string; readonly why?: string }[];
  readonly pools?: readonly { readonly cidr: string; readonly free: number; readonly capacity: number }[];
}

async function runDry(show: BlockDemonstration): Promise<void> {
  const { nodes, printLine, mode } = show.options;
  for (let index = 0; index < nodes; index++) show.join(`node-${index}`);
  await show.startController(small[mode]);
  await show.until(async () => {
    const { pools = [] } = (await show.status()) as Status;
    return pools.length > 0 && pools.every(({ free }) => free === 0);
  });
  await show.pause(1000);
  const { waiting = [], pools = [] } = (await show.status()) as Status;
  for (const { cidr, capacity } of pools) printLine(`      ${cidr}: all ${capacity} blocks are held`);
  const [first] = waiting;
  const names = waiting.slice(0, 6).map(({ name }) => name);
  printLine(`      ${waiting.length} nodes wait, ${names.join(', ')} ...`);
  printLine(`      ${first?.name}: ${first?.why}`);
}

async function addNetwork(show: BlockDemonstration): Promise<void> {
  if (show.hasPools) await show.setPool(large[show.options.mode]);
  else {
    await show.endController('stop');
    await show.startController(large[show.options.mode]);
  }
  await show.until(() => show.unserved === 0);
  show.options.printLine('      every node has its block, and no block has changed');
}

async function replaceNode(show: BlockDemonstration): Promise<void> {
  const before = show.machines.get('node-0')?.inUse;
  await show.leave('node-0');
  show.join('node-0');
  await show.until(() => show.unserved === 0);
  const after = show.machines.get('node-0')?.inUse;
  show.options.printLine(
    `      node-0 was a machine with ${before?.join()}, and is one with ${after?.join()}`,
  );
}

async function collect(show: BlockDemonstration): Promise<void> {
  const names = Array.from({ length: gone }, (_, index) => `node-${index + 1}`);
  for (const name of names) await show.leave(name, true);
  show.options.printLine(
    '      two passes 10 s apart must find them without a Node; a new leader waits 20 s before it deletes',
  );
  await show.until(async () => {
    const objects = await show.objects();
    return names.every((name) => !objects.includes(name));
  });
  show.options.printLine(`      ${names.join(', ')}: their CiliumNodes are gone, and their blocks are free`);
}

async function killInBurst(show: BlockDemonstration): Promise<void> {
  for (let index = 0; index < burst / 2; index++) show.join(`late-${index}`);
  await show.until(() => show.unserved < burst / 2);
  for (let index = burst / 2; index < burst; index++) show.join(`late-${index}`);
  await show.endController('kill');
  show.options.printLine(
    `      killed while ${show.unserved} nodes wait; the next one leads when the Lease has ended`,
  );
  await show.startController(large[show.options.mode]);
  await show.until(() => show.unserved === 0);
}
