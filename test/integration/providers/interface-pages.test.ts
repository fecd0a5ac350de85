import { DescribeNetworkInterfacesCommand, EC2Client, type NetworkInterface } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import { compactPages } from '../../../src/providers/aws/compact-pages.ts';
import type { Ec2Association, Ec2NetworkInterface, Ec2Output } from '../../../src/providers/aws/ec2-api.ts';
import { answerShapes } from '../../../src/providers/aws/answer-shapes.ts';
import { readAnswer } from '../../../src/providers/aws/page-reader.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { InterfacePages } from '../../support/interface-pages.ts';

const credentials = { accessKeyId: 'AKIAINTEGRATION00001', secretAccessKey: 'integration-secret' };
/** The answer to the next request. */
let answer: { readonly status: number; readonly body: Buffer; readonly cutAt?: number } = {
  status: 200,
  body: Buffer.alloc(0),
};
/** The answers to the requests before that, in order. */
let earlier: readonly (typeof answer)[] = [];
let server: Server;
let api: AwsApi;
let sdk: EC2Client;

beforeAll(async () => {
  // A comparison of 1,000 interfaces may take longer than Node.js keeps an idle connection.
  server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const [next = answer, ...later] = earlier;
    earlier = later;
    const { status, body, cutAt } = next;
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-length': body.length, 'x-amzn-requestid': 'r-1' });
      if (cutAt === undefined) response.end(body);
      else response.write(body.subarray(0, cutAt), () => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const region = 'eu-central-1';
  process.env['AWS_ACCESS_KEY_ID'] = credentials.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = credentials.secretAccessKey;
  api = new AwsApi({
    endpoint,
    region,
    http: {
      connections: 2,
      clock: systemClock,
      connectionTimeout: 5000,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  });
  sdk = new EC2Client({ endpoint, region, credentials, maxAttempts: 1 });
});

afterAll(() => {
  api.close();
  sdk.destroy();
  server.close();
});

const sending = {
  caller: { priority: 'high' as const },
  signal: new AbortController().signal,
  onSend: () => undefined,
} as const;

/** The result of an answer, read by the SDK alone and by Headwater's reader, over HTTP. */
async function readings(given: typeof answer): Promise<{ sdk: unknown; own: unknown }> {
  answer = given;
  const bySdk = sdk.send(new DescribeNetworkInterfacesCommand({}));
  const own = api.send('DescribeNetworkInterfaces', {}, sending);
  const [first, second] = await Promise.allSettled([bySdk, own]);
  return {
    sdk: first.status === 'fulfilled' ? reduced(first.value) : failure(first.reason),
    own: second.status === 'fulfilled' ? reduced(second.value) : failure((second.reason as Error).cause),
  };
}

function failure(error: unknown): unknown {
  const { name, message, code, $metadata } = error as Record<string, unknown>;
  return {
    name,
    message,
    code,
    status: ($metadata as { httpStatusCode?: number } | undefined)?.httpStatusCode,
  };
}

describe('pages of network interfaces', () => {
  test('are read as the SDK reads them: 1,000 interfaces with all kinds of oddities', async () => {
    const body = Buffer.from(new InterfacePages(new Random('pages')).page(1000, 'a&amp;b=='));

    const read = await readings({ status: 200, body });

    expect(read.own).toStrictEqual(read.sdk);
    expect(read.own).toMatchObject({ NextToken: 'a&b==', NetworkInterfaces: { length: 1000 } });
    expect(readAtOnce(body)).toStrictEqual(withoutMetadata(read.sdk));
  });

  test('are each read from their own bytes, also when another page arrives meanwhile', async () => {
    const source = new InterfacePages(new Random('side by side'));
    const [max = Buffer.alloc(0), ...others] = [600, 100, 100, 100, 100, 100, 100].map((count) =>
      Buffer.from(source.page(count)),
    );
    // The first body of a length is concatenated; the next one has a buffer, which another one may reuse.
    for (const body of [max, max]) await readings({ status: 200, body });
    earlier = [max, ...others].map((body) => ({ status: 200, body }));

    const read = await Promise.all(
      earlier.map(async () => api.send('DescribeNetworkInterfaces', {}, sending)),
    );

    const shown = read.map((one) => JSON.stringify(withoutMetadata(one))).toSorted();
    const expected = [max, ...others].map((body) => JSON.stringify(readAtOnce(body))).toSorted();
    expect(shown).toStrictEqual(expected);
  });

  test('keep the metadata of the answer', async () => {
    answer = { status: 200, body: Buffer.from(new InterfacePages(new Random('pages')).page(1)) };

    const output = await api.send('DescribeNetworkInterfaces', {}, sending);

    expect(output).toMatchObject({ $metadata: { httpStatusCode: 200, requestId: 'r-1' } });
  });

  const page = Buffer.from(new InterfacePages(new Random('short')).page(3));
  const refusal = `<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors><RequestID>r-1</RequestID></Response>`;
  test.each([
    ['nothing', { status: 200, body: Buffer.alloc(0) }],
    ['another answer', { status: 200, body: Buffer.from('<html><body>sign in</body></html>') }],
    ['text', { status: 200, body: Buffer.from('upstream connect error') }],
    ['half of a page', { status: 200, body: page.subarray(0, page.length / 2) }],
    ['a connection that breaks in the middle', { status: 200, body: page, cutAt: page.length / 2 }],
  ])('are refused when they are not whole: %s', async (_, given) => {
    const { own } = await readings(given);

    expect(own).toMatchObject({ code: 'UnreadableAnswer', status: 200 });
  });

  test('are refused with the error that the SDK reports', async () => {
    const read = await readings({ status: 503, body: Buffer.from(refusal) });

    expect(read.own).toStrictEqual(read.sdk);
  });

  test('do not read an answer without interfaces as an empty list', async () => {
    const body = Buffer.from(
      '<DescribeNetworkInterfacesResponse><requestId>r</requestId></DescribeNetworkInterfacesResponse>',
    );

    const read = await readings({ status: 200, body });

    expect(readAtOnce(body)).toStrictEqual({});
    expect(read.own).not.toHaveProperty('NetworkInterfaces');
  });

  test('share their reader with other actions', async () => {
    answer = {
      status: 200,
      body: Buffer.from(
        '<DescribeSubnetsResponse><subnetSet><item><subnetId>subnet-1</subnetId></item></subnetSet></DescribeSubnetsResponse>',
      ),
    };

    const output = await api.send('DescribeSubnets', {}, sending);

    expect(output.Subnets).toEqual([{ SubnetId: 'subnet-1' }]);
  });
});

describe('any XML document', () => {
  test('is read as the SDK reads it, or refused, whatever known and unknown elements it nests', async () => {
    let understood = 0;
    const property = fc.asyncProperty(documents, async (text) => {
      const read = await bothWays(Buffer.from(text));
      if (isRefused(read.own)) return;
      understood++;
      expect(read.own).toStrictEqual(read.sdk);
    });

    await fc.assert(property, { numRuns: 600, seed: 1 });
    expect(understood).toBeGreaterThan(100);
  });

  test('never yields less than the SDK reads when it was cut off or spoiled', async () => {
    // The SDK refuses a page because of an unreadable time; Headwater reads no times.
    const text = new InterfacePages(new Random('spoiled'))
      .page(2, 'next')
      .replaceAll('attachTime', 'notATime');
    const whole = Buffer.from(text);
    const spoiled = fc.record({
      cut: fc.nat(whole.length),
      at: fc.nat(whole.length - 1),
      bytes: fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 3 }),
        fc.constantFrom(...['<', '>', '/', '&', '"', '<!', '<?', ' '].map((mark) => Buffer.from(mark))),
      ),
      isCut: fc.boolean(),
    });
    const property = fc.asyncProperty(spoiled, async ({ cut, at, bytes, isCut }) => {
      const body = Buffer.from(isCut ? whole.subarray(0, cut) : whole);
      if (at + bytes.length <= body.length) body.set(bytes, at);
      const read = await bothWays(body);
      if (!isRefused(read.own)) expect(read.own).toStrictEqual(read.sdk);
    });

    await fc.assert(property, { numRuns: 600, seed: 1 });
  });
});

function isRefused(outcome: unknown): boolean {
  return (outcome as { readonly code?: unknown }).code === 'UnreadableAnswer';
}

const elements = [
  'networkInterfaceSet',
  'item',
  'networkInterfaceId',
  'description',
  'privateIpAddressesSet',
  'privateIpAddress',
  'primary',
  'attachment',
  'deviceIndex',
  'tagSet',
  'key',
  'value',
  'groupSet',
  'groupId',
  'association',
  'publicIp',
  'nextToken',
  'unknown',
];
const pieces = [
  'text',
  '&amp;',
  '&#65;',
  '&#x1F600;',
  '&nbsp;',
  '& ',
  'ü',
  '🚰',
  '\n',
  ' ',
  '\r\n',
  '\t',
  '<!-- c -->',
  '<!---->',
  '<?pi?>',
  '<![CDATA[x]]>',
];
const attributes = ['', '', '', '', '', '', ' ', ' a="<>"', " b='&quot;'", ' xmlns="x"', ' groupId="x"'];

const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom(...pieces, '\n', '\n', 'text'),
    fc
      .record({
        name: fc.constantFrom(...elements),
        attribute: fc.constantFrom(...attributes),
        inside: fc.array(tie('tree'), { maxLength: 5 }),
      })
      .map(({ name, attribute, inside }) =>
        inside.length === 0 ? `<${name}${attribute}/>` : `<${name}${attribute}>${inside.join('')}</${name}>`,
      ),
  ),
}));

/** Texts where the shape has them, so that many documents are readable, and anything else in between. */
const likely = fc
  .array(
    fc.record({
      name: fc.constantFrom('networkInterfaceId', 'description', 'vpcId', 'subnetId', 'requesterManaged'),
      text: fc.array(fc.constantFrom(...pieces.slice(0, 3), 'ü', '🚰', '\n', ' ', '\r\n'), { maxLength: 4 }),
    }),
    { maxLength: 4 },
  )
  .map((leaves) => leaves.map(({ name, text }) => `<${name}>${text.join('')}</${name}>`).join(''));

const documents = fc
  .record({
    items: fc.array(fc.tuple(likely, fc.oneof({ weight: 3, arbitrary: fc.constant('') }, tree)), {
      maxLength: 4,
    }),
    rest: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, tree),
    head: fc.constantFrom('', '<?xml version="1.0"?>\n', '<!-- c -->', ' \n', '<!DOCTYPE x>'),
    root: fc.constantFrom(...Array.from({ length: 6 }, () => 'DescribeNetworkInterfacesResponse'), 'other'),
  })
  .map(({ items, rest, head, root }) => {
    const list = items.map((parts) => `<item>${parts.join('')}</item>`).join('\n');
    return `${head}<${root}><networkInterfaceSet>${list}</networkInterfaceSet>${rest}</${root}>`;
  });

/** Like `readings`, without a socket. */
async function bothWays(body: Buffer): Promise<{ sdk: unknown; own: unknown }> {
  const own = clientAnswering(body);
  own.middlewareStack.use(compactPages(systemClock));
  const [bySdk, byOwn] = await Promise.allSettled(
    [clientAnswering(body), own].map((client) => client.send(new DescribeNetworkInterfacesCommand({}))),
  );
  const outcome = (settled: typeof bySdk): unknown =>
    settled?.status === 'fulfilled' ? reduced(settled.value) : failure(settled?.reason);
  return { sdk: outcome(bySdk), own: outcome(byOwn) };
}

function clientAnswering(body: Buffer): EC2Client {
  return new EC2Client({
    region: 'eu-central-1',
    credentials,
    maxAttempts: 1,
    requestHandler: {
      handle: () =>
        Promise.resolve({
          response: { statusCode: 200, headers: {}, body: Readable.from([body], { objectMode: false }) },
        }),
    },
  });
}

function readAtOnce(body: Buffer): Ec2Output<'DescribeNetworkInterfaces'> {
  const reading = readAnswer(answerShapes.DescribeNetworkInterfaces, body);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

function withoutMetadata(output: unknown): unknown {
  const { $metadata: _, ...rest } = output as Record<string, unknown>;
  return rest;
}

interface Reading {
  readonly NetworkInterfaces?: readonly (NetworkInterface | Ec2NetworkInterface)[] | undefined;
  readonly NextToken?: string | undefined;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The members that Headwater reads, in their places. */
function reduced(output: Reading): unknown {
  return {
    ...only(output, 'NextToken'),
    $metadata: { httpStatusCode: output.$metadata?.httpStatusCode },
    ...within(output, 'NetworkInterfaces', reducedInterface),
  };
}

function associationOf({ Association }: { readonly Association?: Ec2Association | undefined }): {
  readonly Association?: object;
} {
  return Association === undefined
    ? {}
    : { Association: only(Association, 'IpOwnerId', 'PublicIp', 'CarrierIp') };
}

function reducedInterface(shown: NetworkInterface | Ec2NetworkInterface): unknown {
  return {
    ...only(
      shown,
      'NetworkInterfaceId',
      'Description',
      'VpcId',
      'SubnetId',
      'AvailabilityZone',
      'MacAddress',
      'PrivateIpAddress',
      'InterfaceType',
      'RequesterManaged',
      'Status',
    ),
    ...within(shown, 'PrivateIpAddresses', (item) => ({
      ...only(item, 'PrivateIpAddress', 'Primary'),
      ...associationOf(item),
    })),
    ...within(shown, 'Ipv6Addresses', (item) => only(item, 'Ipv6Address')),
    ...within(shown, 'Ipv4Prefixes', (item) => only(item, 'Ipv4Prefix')),
    ...within(shown, 'Ipv6Prefixes', (item) => only(item, 'Ipv6Prefix')),
    ...within(shown, 'Groups', (item) => only(item, 'GroupId')),
    ...within(shown, 'TagSet', (item) => only(item, 'Key', 'Value')),
    ...associationOf(shown),
    ...('Attachment' in shown
      ? {
          Attachment: only(
            shown.Attachment ?? {},
            'AttachmentId',
            'InstanceId',
            'DeviceIndex',
            'NetworkCardIndex',
            'Status',
            'DeleteOnTermination',
          ),
        }
      : {}),
  };
}

function only(source: object, ...members: readonly string[]): object {
  return Object.fromEntries(Object.entries(source).filter(([member]) => members.includes(member)));
}

function within<T, M extends keyof T & string>(
  source: T,
  member: M,
  reduce: (item: NonNullable<T[M]> extends readonly (infer I extends object)[] ? I : never) => unknown,
): object {
  const list = source[member] as Parameters<typeof reduce>[0][] | undefined;
  return list === undefined ? {} : { [member]: list.map((each) => reduce(each)) };
}
