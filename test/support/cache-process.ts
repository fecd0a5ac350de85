// A process that reads the CiliumNodes and Nodes of a cluster as the controller does, prints the number of each and its
// peak memory in MB, and exits.
import { ClusterCache } from '../../src/controller/eni/cluster-cache.ts';
import { UndiciTransport } from '../../src/kubernetes/transport/undici-transport.ts';
import { awsSection } from '../../src/providers/aws/cilium-node-section.ts';
import { instanceIdOf } from '../../src/providers/aws/ids.ts';
import { ReadLog } from '../../src/controller/reporting/watch-counters.ts';
import { NodeScope } from '../../src/controller/node-scope.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock as clock } from '../../src/runtime/system-clock.ts';
import { accessTo } from './cluster-access.ts';
import { recordingLogger } from './recording-logger.ts';

const access = accessTo(process.argv[2] ?? '');
const cache = new ClusterCache({
  host: {
    clock,
    random: new Random('cache'),
    log: recordingLogger(),
    onBug: (error) => {
      throw error;
    },
  },
  transport: new UndiciTransport({ access, clock }),
  instanceIdOf,
  section: awsSection,
  reads: new ReadLog({ clock, log: recordingLogger() }),
  scope: new NodeScope(undefined, 0, clock),
});
void cache.run(new AbortController().signal);
await cache.synced;
const kinds = Map.groupBy(cache.nodes.values(), ({ kind }) => kind);
const counts = Object.fromEntries([...kinds].map(([kind, nodes]) => [kind, nodes.length]));
const peak = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ ...counts, peak })}\n`);
process.exit(0);
