// A server in front of an EC2 that omits instances and interfaces from its answers, as for a role that may not see them.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { loopbackServer } from '../../support/loopback-server.ts';

/** What is omitted; nothing where a predicate is missing. */
export interface Veil {
  readonly instance?: (instanceId: string) => boolean;
  readonly networkInterface?: (instanceId: string, deviceIndex: number) => boolean;
}

export interface VeiledEc2 {
  readonly url: string;
  /** Applies from the next answer on. */
  readonly wear: (veil: Veil) => void;
  readonly close: () => Promise<void>;
}

/** `target`: the URL of the EC2 behind it. */
export async function startVeiledEc2(target: string): Promise<VeiledEc2> {
  const agent = new Agent({ keepAlive: true });
  let worn: Veil = {};
  const server = await loopbackServer((asked, response) => {
    handOn(target, agent, asked)
      .then(({ action, status, answer }) => {
        answerWith(response, status, status === 200 ? veiledAnswer(action, answer, worn) : answer);
      })
      .catch(() => response.destroy());
  });
  return {
    url: server.url,
    wear: (veil) => {
      worn = veil;
    },
    close: async () => {
      await server.close();
      agent.destroy();
    },
  };
}

async function handOn(
  target: string,
  agent: Agent,
  asked: IncomingMessage,
): Promise<{ readonly action: string; readonly status: number; readonly answer: string }> {
  const body = await textOf(asked);
  const { method, headers, url: path = '/' } = asked;
  const onwards = request(new URL(path, target), { method, headers, agent });
  onwards.end(body);
  const [answer] = (await once(onwards, 'response')) as [IncomingMessage];
  const action = new URLSearchParams(body).get('Action') ?? '';
  return { action, status: answer.statusCode ?? 500, answer: await textOf(answer) };
}

async function textOf(message: AsyncIterable<unknown>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function answerWith(response: ServerResponse, status: number, text: string): void {
  response.on('error', () => undefined);
  response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8' });
  response.end(text);
}

/** The answer without hidden items. */
export function veiledAnswer(action: string, answer: string, veil: Veil): string {
  const { instance, networkInterface } = veil;
  if (action === 'DescribeInstances' && instance !== undefined) {
    const fewer = withoutItems(answer, 'instancesSet', (item) => instance(textIn(item, 'instanceId')));
    return withoutItems(fewer, 'reservationSet', (item) => item.includes('<instancesSet></instancesSet>'));
  }
  if (action !== 'DescribeNetworkInterfaces') return answer;
  return withoutItems(answer, 'networkInterfaceSet', (item) => {
    const attachment = item.slice(Math.max(0, item.indexOf('<attachment>')));
    const instanceId = textIn(attachment, 'instanceId');
    if (instanceId === '') return false;
    if (instance?.(instanceId) === true) return true;
    return networkInterface?.(instanceId, Number(textIn(attachment, 'deviceIndex'))) ?? false;
  });
}

function textIn(xml: string, element: string): string {
  const start = xml.indexOf(`<${element}>`);
  return start < 0 ? '' : xml.slice(start + element.length + 2, xml.indexOf('<', start + 1));
}

/** Removes items from each list of that name; lists inside items have items, too. */
function withoutItems(xml: string, list: string, isHidden: (item: string) => boolean): string {
  const open = `<${list}>`;
  const kept: string[] = [];
  let at = 0;
  for (let start = xml.indexOf(open); start >= 0; start = xml.indexOf(open, at)) {
    kept.push(xml.slice(at, start + open.length));
    at = start + open.length;
    while (xml.startsWith('<item>', at)) {
      const end = endOfItem(xml, at);
      const item = xml.slice(at, end);
      if (!isHidden(item)) kept.push(item);
      at = end;
    }
  }
  kept.push(xml.slice(at));
  return kept.join('');
}

function endOfItem(xml: string, start: number): number {
  const tags = /<(\/?)item>/g;
  tags.lastIndex = start;
  let depth = 0;
  for (let tag = tags.exec(xml); tag !== null; tag = tags.exec(xml)) {
    depth += tag[1] === '' ? 1 : -1;
    if (depth === 0) return tags.lastIndex;
  }
  throw new Error('an item of the answer does not end');
}
