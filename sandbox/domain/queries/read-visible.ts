/** What somebody sees, of records or of events. */
interface View<Page> {
	sees(page: Page): boolean;
}

/**
 * Reads a page beside other requests. Meanwhile rights may end, and records change hands: what is on the
 * page by then is looked at again, and read again if something is out of sight.
 *
 * @param viewNow what the caller sees at this moment; throws if they may read nothing any more
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
