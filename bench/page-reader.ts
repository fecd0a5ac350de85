// What a page of 1,000 interfaces with 15 addresses each costs to read: by the SDK alone, and with Headwater's reader in it.
// `node bench/page-reader.ts`
import { DescribeNetworkInterfacesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { compactPages } from '../src/providers/aws/compact-pages.ts';
import { systemClock } from '../src/runtime/system-clock.ts';

const interfaces = 1000;
const addresses = 15;
const pages = 30;

function element(name: string, ...content: readonly string[]): string {
  return content.length === 1 && !content[0]?.startsWith('<')
    ? `<${name}>${content[0]}</${name}>\n`
    : `<${name}>\n${content.join('')}</${name}>\n`;
}

function interfaceOf(index: number): string {
  const id = index.toString(16).padStart(17, '0');
  const addressOf = (number: number): string => `10.${index >> 8}.${index & 255}.${number}`;
  return element(
    'item',
    element('networkInterfaceId', `eni-${id}`),
    element('subnetId', 'subnet-0123456789abcdef0'),
    element('vpcId', 'vpc-0123456789abcdef0'),
    element('availabilityZone', 'eu-central-1a'),
    element('description', 'Headwater'),
    element('ownerId', '123456789012'),
    element('requesterManaged', 'false'),
    element('status', 'in-use'),
    element('macAddress', '02:aa:bb:cc:dd:ee'),
    element('privateIpAddress', addressOf(0)),
    element('privateDnsName', `ip-${addressOf(0).replaceAll('.', '-')}.eu-central-1.compute.internal`),
    element('sourceDestCheck', 'true'),
    element(
      'groupSet',
      element('item', element('groupId', 'sg-0123456789abcdef0'), element('groupName', 'nodes')),
    ),
    element(
      'attachment',
      element('attachmentId', `eni-attach-${id}`),
      element('instanceId', `i-${id}`),
      element('instanceOwnerId', '123456789012'),
      element('deviceIndex', '1'),
      element('networkCardIndex', '0'),
      element('status', 'attached'),
      element('attachTime', '2026-01-02T03:04:05.000Z'),
      element('deleteOnTermination', 'true'),
    ),
    element(
      'tagSet',
      element('item', element('key', 'io.cilium/cilium-managed'), element('value', 'true')),
      element('item', element('key', 'io.cilium/cluster-name'), element('value', 'production')),
      element('item', element('key', 'headwater/instance-id'), element('value', `i-${id}`)),
    ),
    element(
      'privateIpAddressesSet',
      ...Array.from({ length: addresses }, (_, number) =>
        element(
          'item',
          element('privateIpAddress', addressOf(number)),
          element(
            'privateDnsName',
            `ip-${addressOf(number).replaceAll('.', '-')}.eu-central-1.compute.internal`,
          ),
          element('primary', String(number === 0)),
        ),
      ),
    ),
    element('interfaceType', 'interface'),
  );
}

const body = Buffer.from(
  element(
    'DescribeNetworkInterfacesResponse',
    element('requestId', 'fdcdcab1-ae5c-489e-9c33-4637c5dda355'),
    element('networkInterfaceSet', ...Array.from({ length: interfaces }, (_, index) => interfaceOf(index))),
  ),
);

function clientOf(reader: 'sdk' | 'headwater'): EC2Client {
  const answer = () => ({ statusCode: 200, headers: {}, body: Readable.from([body], { objectMode: false }) });
  const client = new EC2Client({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIABENCHMARK0000001', secretAccessKey: 'benchmark' },
    maxAttempts: 1,
    requestHandler: { handle: () => Promise.resolve({ response: answer() }) },
  });
  if (reader === 'headwater') client.middlewareStack.use(compactPages(systemClock));
  return client;
}

async function measure(reader: 'sdk' | 'headwater') {
  const client = clientOf(reader);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const times: number[] = [];
  const heapBefore = heapUsed();
  const kept: unknown[] = [];
  delay.enable();
  for (let page = 0; page < pages; page++) {
    const start = performance.now();
    kept.push(await client.send(new DescribeNetworkInterfacesCommand({})));
    times.push(performance.now() - start);
    // The delay is measured by timers: one must come between two pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  delay.disable();
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  return {
    reader,
    'first page, ms': rounded(times[0] ?? 0),
    'median page, ms': rounded(times.toSorted((a, b) => a - b)[pages / 2] ?? 0),
    'longest block, ms': rounded(delay.max / 1e6),
    'kept, MB a page': rounded((heapUsed() - heapBefore) / 1e6 / kept.length),
  };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const rows = [await measure('sdk'), await measure('headwater')];
const scenario = { interfaces, addresses, pages, 'page, MB': Math.round(body.length / 1e5) / 10 };
process.stdout.write(`${JSON.stringify({ scenario, rows }, undefined, 2)}\n`);
