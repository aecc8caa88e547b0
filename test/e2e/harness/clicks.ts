import type { Page } from 'playwright-core';

/** What a person does with mouse and keyboard. */
export interface Clicks {
	clicks: number;
	/** Boxes that were typed into, however long the text. */
	boxes: number;
}

/**
 * Runs in every page: counts what arrives there, whichever part of the page it is for. Playwright takes back a click
 * whose target has moved away, at the window, and clicks again: the document gets only what counts.
 */
const listener = `{
	const filled = new WeakSet();
	document.addEventListener('pointerdown', () => countEffort('clicks'), true);
	addEventListener('input', ({ target }) => {
		if (filled.has(target) || ['checkbox', 'radio'].includes(target.type)) return;
		filled.add(target);
		countEffort('boxes');
	}, true);
}`;

/** Counts from now on, in this page and in the windows it opens. A double click is two. */
export async function countClicks(page: Page): Promise<Clicks> {
	const effort: Clicks = { clicks: 0, boxes: 0 };
	const context = page.context();
	await context.exposeFunction('countEffort', (kind: keyof Clicks) => {
		effort[kind] += 1;
	});
	await context.addInitScript(listener);
	return effort;
}
