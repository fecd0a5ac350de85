// The metadata service of the EC2 instance that this process runs on, version 2: asked for the region when nothing else
// says it (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html).

import { Agent, request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

/** Where instances find it. */
export const instanceMetadata = 'http://169.254.169.254';

/** Of the whole conversation, in ms. */
const timeout = 3000;

/**
 * The region of the instance. Rejects when the service does not answer: then this is no EC2 instance, or the service is
 * out of reach of pods (its hop limit).
 */
export async function regionOfInstance(endpoint: string, signal: AbortSignal): Promise<string> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const token = await ask(`${endpoint}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' },
    signal: within,
  });
  const region = await ask(`${endpoint}/latest/meta-data/placement/region`, {
    headers: { 'x-aws-ec2-metadata-token': token },
    signal: within,
  });
  if (!/^[a-z]{2,}(-[a-z]+)+-\d{1,2}$/.test(region))
    throw new Error(`it names no region: ${region.slice(0, 80)}`);
  return region;
}

/**
 * By an agent of its own, which knows no proxy: not even the one that NODE_USE_ENV_PROXY puts behind fetch and the agents
 * that are shared.
 */
function ask(url: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const agent = new Agent();
    const asked = request(url, { ...options, agent }, (answer) => {
      text(answer).then((body) => {
        const { statusCode } = answer;
        if (statusCode === 200) resolve(body.trim());
        else reject(new Error(`${new URL(url).pathname} answers ${statusCode}`));
      }, reject);
    });
    asked.once('error', reject).end();
  });
}
