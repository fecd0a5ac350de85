// Draws the page for the documentation: HEADWATER_TEST_PICTURES=docs/pictures npm test -- page-pictures
import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { fleetReport, picturedNode } from '../support/page-fleet.ts';
import { browserProgram, servePage } from '../support/page-server.ts';

const program = browserProgram();
const whereABrowserIs = program === undefined ? describe.skip : describe;
const into = process.env['HEADWATER_TEST_PICTURES'];

/** In ms. The trend is drawn of what is read meanwhile. */
const start = Date.UTC(2026, 2, 2, 9);
const interval = 5000;
const end = start + 23 * interval;

async function draw(size: { width: number; height: number }, colorScheme: 'light' | 'dark', hash: string) {
  let read = 0;
  const server = await servePage({
    status: (withNodes) => fleetReport(read++, withNodes),
    node: () => picturedNode,
  });
  const browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({
      viewport: size,
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    await page.clock.install({ time: start - 1000 });
    await page.clock.pauseAt(start);
    await page.goto(`http://127.0.0.1:${server.address.port}/${hash}`);
    for (let at = start; at <= end; at += interval) {
      await page.getByText(`read at ${new Date(at).toISOString().slice(11, 19)}`).waitFor();
      if (at < end) await page.clock.runFor(interval);
    }
    return await page.screenshot({ fullPage: true });
  } finally {
    await browser.close();
    await server.close();
  }
}

whereABrowserIs('the page', () => {
  test.each([
    ['page-light', { width: 1000, height: 800 }, 'light', ''],
    ['page-dark-node', { width: 1000, height: 800 }, 'dark', `#node=${picturedNode.name}`],
  ] as const)('is drawn for the documentation as %s', async (name, size, scheme, hash) => {
    const drawn = await draw(size, scheme, hash);

    if (into !== undefined) {
      await mkdir(into, { recursive: true });
      await writeFile(join(into, `${name}.png`), drawn);
    }
    const kept = new URL(`../../docs/pictures/${name}.png`, import.meta.url);
    expect(existsSync(kept)).toBe(true);
    // As https://www.w3.org/TR/png-3/#11IHDR has it.
    expect(readFileSync(kept).readUInt32BE(16)).toBe(size.width);
    expect(drawn.readUInt32BE(16)).toBe(size.width);
  });
});
