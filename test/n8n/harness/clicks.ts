import type { Page } from 'playwright-core';

/** A person's effort with mouse and keyboard. */
export interface Clicks {
	clicks: number;
	/** The number of boxes that were typed into, however long the texts. */
	boxes: number;
}

/**
 * Runs in every page, and counts events there. If the target of a click has moved away, Playwright stops the click at
 * the window and clicks again, so the document gets only clicks that count.
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

/** Counts from now on, in this page and in the windows that it opens. A double click counts as two. */
export async function countClicks(page: Page): Promise<Clicks> {
	const effort: Clicks = { clicks: 0, boxes: 0 };
	const context = page.context();
	await context.exposeFunction('countEffort', (kind: keyof Clicks) => {
		effort[kind] += 1;
	});
	await context.addInitScript(listener);
	return effort;
}
