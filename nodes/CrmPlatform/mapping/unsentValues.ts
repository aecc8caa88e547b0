import type { Field } from '../api/openapi/fields';

/** Tells the user of values that were given and not sent, all items together in one notice of a kind. */
export interface UnsentValues {
	/** Given for a field nobody knows. */
	unknown(name: string): void;
	/** Given for all of an object, and none. */
	noObject(name: string): void;
	/** An item that has no value for any of the fields; the first is told. */
	nothingIn(item: number, fields: Field[]): void;
}

export function unsentValues(notices: Set<string>): UnsentValues {
	let isTold = false;
	return {
		unknown: noticeOf(
			notices,
			(names) =>
				`Not sent, because the service has no such field (any more): ${names}. Open the node and refresh its fields, or correct the names.`,
		),
		noObject: noticeOf(
			notices,
			(names) =>
				`Not sent, because the service takes an object here, such as { "key": "value" }, and was given something else: ${names}.`,
		),
		nothingIn(item, fields) {
			if (isTold) return;
			isTold = true;
			const names = fields.slice(0, 3).map(({ name }) => name);
			notices.add(
				`Item ${item}, and perhaps others, had no value for a field of the service, so nothing of it was sent. The names have to be the service’s own, such as ${names.join(', ')}.`,
			);
		},
	};
}

/** Names that one notice lists; it counts the others. */
const mostNamed = 10;

/** @returns adds a name to the notice */
function noticeOf(notices: Set<string>, words: (names: string) => string): (name: string) => void {
	const known = new Set<string>();
	const named: string[] = [];
	let notice: string | undefined;
	return (name) => {
		if (known.has(name)) return;
		known.add(name);
		if (named.length < mostNamed) named.push(name);
		if (notice !== undefined) notices.delete(notice);
		const more = known.size - named.length;
		notice = words(named.join(', ') + (more > 0 ? ` and ${more} more` : ''));
		notices.add(notice);
	};
}
