// Cuts a stream of bytes or texts into lines.
import type { JsonObject } from './json.ts';
import type { StreamLine } from './transport.ts';

/**
 * The lines of `chunks`, without their line breaks and without empty ones. What follows the last line break when the
 * chunks end is a line cut short by a broken connection, and is left out. An object stands for a line that spells it, and
 * stays as it is.
 */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array | string | JsonObject>,
): AsyncGenerator<StreamLine, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) {
      yield chunk;
      continue;
    }
    const searchFrom = rest.length;
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n', searchFrom); end !== -1; end = rest.indexOf('\n', start)) {
      const line = rest.slice(start, end).trim();
      if (line !== '') yield line;
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}
