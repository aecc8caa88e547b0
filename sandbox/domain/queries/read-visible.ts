/** The records or events that a caller can see. */
interface View<Page> {
	sees(page: Page): boolean;
}

/**
 * Reads a page without blocking other requests. Meanwhile, rights may end and records may change owners, so
 * the page is checked afterwards, and read again if any of it is no longer visible.
 *
 * @param viewNow what the caller can currently see; throws if they may no longer read
 */
export async function readVisible<Page, V extends View<Page>>(
	viewNow: () => V,
	read: (view: V) => Promise<Page>,
): Promise<Page> {
	for (;;) {
		const page = await read(viewNow());
		if (viewNow().sees(page)) return page;
	}
}
