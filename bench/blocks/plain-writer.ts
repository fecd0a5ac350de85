// Sends, with no controller, the writes that give every object a block: what the API server alone needs. A process of its own:
// node bench/blocks/plain-writer.ts URL CA-FILE COLLECTION CONNECTIONS patch|pools|replace, with the token in TOKEN.
//
// `patch`: one merge patch each, over so many connections; `pools`: the same, with a block of two pools. `replace`: as cilium-operator's algorithm does, one after another,
// first the object and then its status (a model, not the program).
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';

const [url = '', caFile = '', path = '', connections = '1', form = 'patch'] = process.argv.slice(2);
const ca = await readFile(caFile, 'utf8');
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const headers = { authorization: `Bearer ${process.env['TOKEN'] ?? ''}`, accept: 'application/json' };
const isNode = path.endsWith('/nodes');

interface Written {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

function send(method: string, target: string, type: string, body?: unknown): Promise<string> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const length =
      text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) };
    const sent = request(
      url + target,
      { method, ca, agent, headers: { ...headers, ...length } },
      (answer) => {
        answer.setEncoding('utf8');
        let said = '';
        answer.on('data', (piece: string) => (said += piece));
        answer.on('end', () => {
          if ((answer.statusCode ?? 500) < 300) resolve(said);
          else reject(new Error(`${method} ${target}: ${answer.statusCode} ${said.slice(0, 300)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The block of the object in this place. */
function specOf(index: number): Record<string, unknown> {
  const block = `10.${index >> 8}.${index & 255}.0/24`;
  if (form === 'pools') {
    const other = `10.${16 + (index >> 8)}.${index & 255}.0/24`;
    const allocated = [
      { pool: 'blue', cidrs: [other] },
      { pool: 'default', cidrs: [block] },
    ];
    return { ipam: { pools: { allocated } } };
  }
  return isNode ? { podCIDR: block, podCIDRs: [block] } : { ipam: { podCIDRs: [block] } };
}

async function write(object: Written, index: number): Promise<void> {
  const { name, uid, resourceVersion } = object.metadata;
  const target = `${path}/${name}`;
  if (form !== 'replace') {
    const patch = { metadata: { uid, resourceVersion }, spec: specOf(index) };
    await send('PATCH', target, 'application/merge-patch+json', patch);
    return;
  }
  const next = { ...object, spec: { ...object.spec, ...specOf(index) } };
  const answer = await send('PUT', target, 'application/json', next);
  await send('PUT', `${target}/status`, 'application/json', JSON.parse(answer) as unknown);
}

const { items, ...list } = JSON.parse(await send('GET', path, '')) as {
  items: Written[];
  apiVersion: string;
  kind: string;
};
const all = items.map((each) => ({
  apiVersion: list.apiVersion,
  kind: list.kind.replace(/List$/, ''),
  ...each,
}));
process.stdout.write('started\n');
const left = all.entries();
const work = async (): Promise<void> => {
  for (const [index, object] of left) await write(object, index);
};
await Promise.all(Array.from({ length: Number(connections) }, work));
process.stdout.write('written\n');
agent.destroy();
