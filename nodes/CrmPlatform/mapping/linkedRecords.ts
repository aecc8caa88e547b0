import type { Field } from '../api/openapi/fields';
import { linksOf, type Link } from '../api/openapi/links';
import type { Execution } from '../model';
import { evaluateValues } from './expressions';
import type { FieldValue } from './objectFields';
import type { UnsentValues } from './unsentValues';
import { isFilledByModel, type LinkedRecord } from './stored';

/**
 * Reads what the records that were picked are to the one that is written.
 *
 * @param fields what the service takes
 * @returns reads the values for an input item: several records of one list come as one value
 * @throws Error in the user's words for what cannot be meant
 */
export function linkedRecordValues(
	{ n8n }: Execution,
	linked: LinkedRecord[],
	fields: Field[],
	leftOut: UnsentValues,
): (item: number) => FieldValue[] {
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const given = linked.flatMap(({ field, record }) => {
		if (field === '') throw new Error('Linked Records: choose a field for the record you picked.');
		const link = links.get(field);
		if (!link) leftOut.unknown(field);
		return link ? [{ link, label: link.label, value: record }] : [];
	});
	refuseSeveral(given.map(({ link }) => link));

	const read = evaluateValues(n8n, given);
	return (item) => {
		const values = read(item);
		const found = new Map<Field, unknown>();
		for (const [i, { link, value }] of given.entries()) {
			if (isFilledByModel(value) && idsIn(values[i]).length === 0) continue;
			const { field, isOneOfMany, valueFor } = link;
			const before = (found.get(field) ?? []) as unknown[];
			found.set(field, isOneOfMany ? [...before, ...idsIn(values[i]).map(valueFor)] : values[i]);
		}
		return [...found];
	};
}

/** An expression may give several, or none. */
function idsIn(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return value === null || value === undefined || value === '' ? [] : [value];
}

function refuseSeveral(links: Link[]): void {
	const twice = links.find((link, i) => !link.isOneOfMany && links.indexOf(link) !== i);
	if (twice) {
		throw new Error(`Linked Records: ${twice.label} takes one record, and you picked several. Keep one.`);
	}
}
