// Asks the metadata service of a cloud, which is at a link-local address of each instance.
import { Agent, request, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Resolves to the body of an answer with status 200. Rejects for any other answer. Uses its own agent without a proxy:
 * NODE_USE_ENV_PROXY adds one to fetch and to the global agents.
 */
export function askMetadata(url: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const agent = new Agent();
    let isAnswered = false;
    const asked = request(url, { ...options, agent }, (answer) => {
      isAnswered = true;
      text(answer).then((body) => {
        const { statusCode } = answer;
        if (statusCode === 200) resolve(body.trim());
        else reject(new Error(`${new URL(url).pathname} answers ${statusCode}`));
      }, reject);
    });
    asked.on('error', reject);
    // An answer that switches protocols closes the connection without an error.
    asked.once('close', () => {
      if (!isAnswered) reject(new Error(`${new URL(url).pathname} has no answer`));
    });
    asked.end();
  });
}
