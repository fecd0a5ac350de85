// A tile for each node, which names it and leads to its explanation.
import type { VNode } from 'preact';
import { addressOf } from './chosen-node.ts';
import type { StateTiles, Tile } from './tiles.ts';
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';

interface NodeMapProps {
  readonly states: readonly StateTiles[];
  readonly chosen: string | undefined;
}

/** More than these are small. */
const few = 400;

export function NodeMap({ states, chosen }: NodeMapProps): VNode | string {
  const [pointed, setPointed] = useState('');
  const total = states.reduce((sum, { tiles }) => sum + tiles.length, 0);
  // Pointing at a tile must not draw thousands of them anew.
  const groups = useMemo(
    () => states.map((each) => html`<${Group} key=${each.state} ...${each} chosen=${chosen} />`),
    [states, chosen],
  );
  const point = ({ target }: Event): void => {
    if (target instanceof HTMLAnchorElement) setPointed(target.title);
  };
  return html`
    <div class=${total > few ? 'map many' : 'map'} onMouseOver=${point} onFocusIn=${point}>${groups}</div>
    <p class=${pointed === '' ? '' : 'pointed'} aria-hidden="true">${pointed || 'Point at a tile to see its node; click it, or press Enter, to see why.'}</p>
  `;
}

/** One tab stop: arrows, Home and End lead from tile to tile. */
function Group({ state, tiles, chosen }: StateTiles & Pick<NodeMapProps, 'chosen'>): VNode | string {
  const [stop, setStop] = useState(0);
  const current = Math.min(stop, tiles.length - 1);
  const move = (event: KeyboardEvent): void => {
    const group = event.currentTarget as HTMLElement;
    const next = stepTo(event.key, current, group.children);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next);
    (group.children[next] as HTMLElement).focus();
  };
  const label = `${tiles.length} ${state}`;
  const choose = ({ target, currentTarget }: Event): void =>
    setStop([...(currentTarget as HTMLElement).children].indexOf(target as Element));
  return html`
    <h3>${label}</h3>
    <div class="tiles" role="group" aria-label="${label}: arrow keys lead from node to node" onKeyDown=${move} onFocusIn=${choose}>
      ${tiles.map((tile, index) => tileView(tile, index === current, tile.node === chosen))}
    </div>
  `;
}

function tileView({ node, words, style }: Tile, isStop: boolean, isChosen: boolean): VNode | string {
  return html`<a key=${node} href=${addressOf(node)} class=${style} title=${words} tabindex=${isStop ? 0 : -1} aria-current=${isChosen ? 'true' : undefined}></a>`;
}

/** The tile that a key leads to; undefined for other keys. */
function stepTo(key: string, from: number, tiles: HTMLCollection): number | undefined {
  const row = (): number => {
    const all = [...tiles] as HTMLElement[];
    const second = all.findIndex(({ offsetTop }) => offsetTop > (all[0]?.offsetTop ?? 0));
    return second === -1 ? all.length : second;
  };
  const steps: Readonly<Record<string, () => number>> = {
    ArrowRight: () => from + 1,
    ArrowLeft: () => from - 1,
    ArrowDown: () => from + row(),
    ArrowUp: () => from - row(),
    Home: () => 0,
    End: () => tiles.length - 1,
  };
  const next = steps[key]?.();
  return next === undefined ? undefined : Math.max(0, Math.min(tiles.length - 1, next));
}
