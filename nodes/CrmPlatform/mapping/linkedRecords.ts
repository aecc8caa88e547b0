import type { IExecuteFunctions } from 'n8n-workflow';

import type { Field } from '../fields/field';
import { linksOf, type Link } from '../api/openapi/linkFields';
import { isBlank } from '../fields/blank';
import { evaluateValues } from './expressions/evaluateValues';
import type { FieldValue } from './objectFields';
import { isFilledByModel, type LinkedRecord } from './stored';
import type { UnsentValues } from './unsentValues';

/**
 * Reads the records picked beside the values, as values of the fields that refer to them.
 *
 * @returns reads an input item; several records of one list come as one value
 * @throws Error in the user's words where no field was chosen, or too many records
 */
export function linkedRecordValues(
	n8n: IExecuteFunctions,
	linked: LinkedRecord[],
	fields: Field[],
	unsent: UnsentValues,
): (item: number) => FieldValue[] {
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const picked = linked.flatMap(({ field, record }) => {
		if (field === '') throw new Error(`Linked Records: choose a field for the selected record.`);
		const link = links.get(field);
		if (!link) unsent.unknown(field);
		return link ? [{ link, label: link.label, value: record }] : [];
	});
	refuseSeveral(picked.map(({ link }) => link));
	if (picked.length === 0) return () => [];

	const read = evaluateValues(n8n, picked);
	return (item) => {
		const values = read(item);
		const found = new Map<Field, unknown>();
		for (const [i, { link, value }] of picked.entries()) {
			const { field, isOneOfMany, valueFor } = link;
			const ids = idsIn(values[i]);
			if (isFilledByModel(value) && ids.length === 0) continue;
			if (values[i] === undefined) {
				unsent.noValue(field);
				continue;
			}
			const before = (found.get(field) ?? []) as unknown[];
			found.set(field, isOneOfMany ? [...before, ...ids.map(valueFor)] : values[i]);
		}
		return [...found];
	};
}

/** The ids an expression returns: any number of them. */
function idsIn(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return isBlank(value) ? [] : [value];
}

function refuseSeveral(links: Link[]): void {
	const twice = links.find((link, i) => !link.isOneOfMany && links.indexOf(link) !== i);
	if (twice) {
		throw new Error(`Linked Records: ${twice.label} accepts one record, but several are selected. Keep only one.`);
	}
}
