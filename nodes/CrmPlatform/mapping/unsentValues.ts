import type { Field } from '../api/openapi/fields';

/** Tells the user about values that were given and not sent, in one notice for each reason. */
export interface UnsentValues {
	/** A name that belongs to no field. */
	unknown(name: string): void;
	/** The name of an object whose value is not an object. */
	noObject(name: string): void;
	/** A field whose expression gave no value (undefined), as a mistyped path does. */
	noValue(field: Field): void;
}

export function unsentValues(notices: Set<string>): UnsentValues {
	const noValue = noticeOf(
		notices,
		(labels) =>
			`Not sent for at least one item, because the expression gave no value (undefined): ${labels}. If the path is mistyped, correct it. To clear a field, give it null.`,
	);
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
		noValue: ({ label }) => noValue(label),
	};
}

/** Says nothing: for values that are read before they are sent. */
export const noNotices: UnsentValues = { unknown() {}, noObject() {}, noValue() {} };

/**
 * The error of an item that has values, of which none can be sent.
 *
 * @param names the item's own
 */
export function nothingToSend(names: string[], fields: Field[]): Error {
	if (fields.length === 0) {
		return new Error(
			'The service’s description does not say which fields it takes here, so nothing was sent. Write the record with the resource API Request.',
		);
	}
	const shown = (list: string[]) => list.slice(0, 5).join(', ') + (list.length > 5 ? ', …' : '');
	return new Error(
		`None of the item’s values can be sent, so nothing was. The item has ${shown(names)}; the service’s fields are ${shown(fields.map(({ name }) => name))}. Rename the item’s values, or map them by hand.`,
	);
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
