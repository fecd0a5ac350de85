// Splits a stream of bytes or text into lines.
import type { JsonObject } from '../../runtime/json.ts';
import type { StreamLine } from './transport.ts';

/**
 * Yields the non-empty lines of `chunks`, without line breaks. It drops the text after the last line break, which a
 * broken connection cut off. An object stands for its line and passes unchanged.
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
