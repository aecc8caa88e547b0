/**
 * Replaces the text between two markers of a page.
 *
 * @throws Error if the page lacks one of them
 */
export function fillSection(page: string, [begin, end]: readonly [string, string], text: string): string {
	const from = page.indexOf(begin);
	const to = page.indexOf(end, from);
	if (from < 0 || to < 0) throw new Error(`The page has no ${begin} or no ${end}.`);
	return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
