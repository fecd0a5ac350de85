// The page in a browser, as its user has it: served by our HTTP server, under the policy that it sends.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { type Browser, chromium, type Page } from 'playwright-core';
import { bundlePage } from '../../page/bundle.mjs';
import { type HttpServer, startHttpServer } from '../../src/observability/http-server.ts';
import { policyOf } from '../../src/observability/status-page.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const program = spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
if (program === '')
  process.stdout.write(
    'not run: the page in a browser, because chromium is not on the PATH: apt-get install chromium\n',
  );
const whereABrowserIs = program === '' ? describe.skip : describe;

const hostile = '<script>document.title = "taken"</script>';
const report = {
  version: '0.1.0',
  ready: false,
  notReadyBecause: 'it reads the cloud',
  state: 'leading',
  identity: 'controller-1',
  paused: [],
  denied: [{ permission: 'ec2:CreateNetworkInterface', remedy: 'allow it to the role' }],
  reasons: { SubnetsExhausted: 1 },
  nodes: { total: 5000, satisfied: 4999, in_deficit: 0, at_capacity: 0, blocked: 1, unknown: 0 },
  addresses: { available: 90_000, used: 70_000, needed: 12, releasing: 0 },
  pendingPods: 3,
  inDeficit: [{ name: 'node-7', reason: 'SubnetsExhausted', why: `give ${hostile} more room` }],
  warnings: [
    { node: 'node-7', reason: 'AgentCannotStart', why: 'lower it' },
    { node: 'node-9', reason: 'MaxPodsTooHigh', why: 'set maxPods' },
  ],
  pools: [
    { pool: hostile, cidr: '10.0.0.0/16', maskSize: 24, capacity: 256, held: 256, free: 0, waiting: 1 },
  ],
  buckets: [],
};
const node = {
  known: true,
  name: 'node-7',
  standing: 'blocked',
  reason: 'SubnetsExhausted',
  why: `give ${hostile} more room`,
  next: { inSeconds: 30, what: 'a subnet has room', sooner: ['a new subnet'] },
};

let browser: Browser;
let server: HttpServer;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  if (program === '') return;
  browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const { html } = await bundlePage();
  const started = await startHttpServer({
    listenOn: { host: '127.0.0.1', port: 0 },
    option: 'serve-addr',
    clock: systemClock,
    log: recordingLogger(),
    state: {
      health: () => ({ ok: true }),
      ready: () => ({ ok: true }),
      status: () => report,
      node: (name) => (name === node.name ? node : { known: false, state: 'leading', nearest: node.name }),
      page: { html, contentSecurityPolicy: policyOf(html) },
    },
    metrics: { contentType: 'text/plain', scrape: () => Promise.resolve('') },
  });
  if (started.kind === 'refused') throw new Error(started.problem);
  ({ server } = started);
});

afterEach(() => page.close());

afterAll(async () => {
  if (program === '') return;
  await browser.close();
  await server.close();
});

async function open(options: Parameters<Browser['newPage']>[0] = {}, hash = ''): Promise<void> {
  page = await browser.newPage(options);
  complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`http://127.0.0.1:${server.address.port}/${hash}`);
  await page.getByRole('heading', { name: 'controller-1: leading' }).waitFor();
}

/** The lowest contrast of text against the page, as https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio has it. */
const leastContrast = `
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = luminance(getComputedStyle(document.documentElement).backgroundColor);
  Math.min(...[...document.querySelectorAll('main p, main span, main dt, main dd, main td, main th, main li, main h2')]
    .map((element) => luminance(getComputedStyle(element).color))
    .map((own) => (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05)))
`;

whereABrowserIs('the page', () => {
  test('shows what is wrong, with the remedy, and a tile for each of 5,000 nodes', async () => {
    await open();

    await page.getByText('1 node with a reason; pods that wait: 3; 1 permission denied').waitFor();
    await page.getByText('ec2:CreateNetworkInterface: allow it to the role').waitFor();
    await page.getByText('it reads the cloud').first().waitFor();
    expect(await page.locator('.tiles i, .tiles button').count()).toBe(5000);
    expect(await page.getByRole('img', { name: '4999 satisfied, 1 blocked' }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  test('shows names as they are, and runs none of them', async () => {
    await open();

    await page.getByRole('rowheader', { name: hostile }).waitFor();
    expect(await page.title()).toBe('Headwater');
    expect(complaints).toEqual([]);
  });

  test('explains a node that is chosen by keyboard, and goes back', async () => {
    await open();

    const button = page.getByRole('button', { name: 'node-7', exact: true }).first();
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();
    await page.getByText('in 30 s, when a subnet has room').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Node node-7');
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('has a tile with name, state and reason for each node that is not well: one tab stop, and arrows lead on', async () => {
    await open();
    const tiles = page.getByRole('group', { name: 'nodes with a reason' }).getByRole('button');
    const words = [
      `node-7: lacks addresses: SubnetsExhausted: give ${hostile} more room`,
      'node-9: is served, with a warning: MaxPodsTooHigh: set maxPods',
    ];
    const names = (attribute: string): Promise<unknown[]> =>
      Promise.all([0, 1].map((index) => tiles.nth(index).getAttribute(attribute)));
    const focused = (): Promise<unknown> =>
      page.evaluate('document.activeElement.getAttribute("aria-label")');

    expect(await tiles.count()).toBe(2);
    expect([await names('aria-label'), await names('title')]).toEqual([words, words]);
    expect(await names('tabindex')).toEqual(['0', '-1']);
    await tiles.first().focus();
    const met: unknown[] = [await focused()];
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Home', 'End']) {
      await page.keyboard.press(key);
      met.push(await focused());
    }
    const [first, second] = words;
    expect(met).toEqual([first, second, second, first, second, first, second]);
    expect(await names('tabindex')).toEqual(['-1', '0']);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('node');
    await page.keyboard.press('Shift+Tab');
    expect(await focused()).toBe(second);
    await tiles.first().press('Enter');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('reads nothing but /status', async () => {
    const asked: string[] = [];
    const listen = (url: string): void => void asked.push(new URL(url).pathname);
    page = await browser.newPage();
    page.on('request', (request) => listen(request.url()));
    await page.goto(`http://127.0.0.1:${server.address.port}/#node=node-7`);
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();

    expect(new Set(asked)).toEqual(new Set(['/', '/status']));
  });

  test('names the nearest node where none has the name', async () => {
    await open();

    await page.getByLabel('Explain a node').fill('node-8');
    await page.getByRole('button', { name: 'Explain' }).click();

    await page.getByText('Did you mean node-7?').waitFor();
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  test.each([400, 800, 2000])('fits a window of %d pixels', async (width) => {
    await open({ viewport: { width, height: 800 } }, '#node=node-7');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();

    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

    expect(overflow).toBeLessThanOrEqual(0);
  });

  test.each(['light', 'dark'] as const)('has enough contrast where the system is %s', async (colorScheme) => {
    await open({ colorScheme });

    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
  });
});
