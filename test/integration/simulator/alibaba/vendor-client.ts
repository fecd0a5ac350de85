// Calls the model through the whole clients that Alibaba Cloud publishes for JavaScript: one JSON line in is a call, one
// out is its answer. A process of its own, because a client loads thousands of files.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { $OpenApiUtil } from '@alicloud/openapi-core';

export interface VendorCall {
  readonly product: 'ecs20140526' | 'vpc20160428';
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface VendorAnswer {
  readonly status: number | undefined;
  /** The code of an error. */
  readonly code?: string | undefined;
  readonly body?: Readonly<Record<string, unknown>>;
}

type Client = Record<string, (request: unknown) => Promise<{ statusCode: number; body: object }>>;
type Model = new (fields: object) => object;

const require = createRequire(import.meta.url);

const [endpoint = ''] = process.argv.slice(2);
const config = new $OpenApiUtil.Config({
  accessKeyId: 'LTAIHEADWATEREXAMPLE',
  accessKeySecret: 'headwater-example-secret',
  endpoint,
  protocol: 'HTTP',
  regionId: 'cn-hangzhou',
});

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line) as VendorCall;
  process.stdout.write(`${JSON.stringify(await answerTo(call))}\n`);
}

async function answerTo({ product, action, input }: VendorCall): Promise<VendorAnswer> {
  const models = require(`@alicloud/${product}`) as Record<string, Model>;
  const { default: ClientOf, [`${action}Request`]: Request, [`${action}RequestTag`]: Tag } = models;
  if (ClientOf === undefined || Request === undefined) throw new Error(`the client has no ${action}`);
  const client = new ClientOf(config) as Client;
  const { tag: tags, ...rest } = input;
  const tag =
    Tag !== undefined && Array.isArray(tags) ? tags.map((each: object) => new Tag(each)) : undefined;
  const request = new Request({ regionId: 'cn-hangzhou', ...rest, ...(tag !== undefined && { tag }) });
  try {
    const answer = await client[`${action.charAt(0).toLowerCase()}${action.slice(1)}`]?.(request);
    return { status: answer?.statusCode, body: { ...answer?.body } };
  } catch (error) {
    const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
    return { status: statusCode, code };
  }
}
