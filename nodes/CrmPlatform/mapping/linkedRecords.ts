import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import type { Field } from '../fields/field';
import { linksOf, type Link } from '../api/openapi/linkFields';
import { isBlank } from '../values/blank';
import { evaluateValues } from './expressions/evaluateValues';
import type { FieldValue } from './objectFields';
import { isFilledByModel, type StoredLink } from './storedFields';
import type { UnsentValues } from './unsentValues';

/** The records of the items, as values of the fields that refer to them; several of one list come as one value. */
export interface LinkedValues {
	/** Those that may be names. They are read before all of the item. */
	names(item: number): FieldValue[];
	all(item: number): FieldValue[];
}

/** A record that the user picked, and the name of the Link. */
export interface LinkedRecord extends StoredLink {
	field: string;
}

/** @throws Error in the user's words where the items give several fields */
export const linkedRecords = (n8n: IExecuteFunctions, stored: StoredLink[]): LinkedRecord[] =>
	stored.map((link) => ({ ...link, field: fieldForAll(n8n, link.field) }));

function fieldForAll(n8n: IExecuteFunctions, field: unknown): string {
	const read = evaluateValues(n8n, [{ label: 'Linked Records', value: field }]);
	const fieldOf = (item: number) => String(read(item)[0] ?? '');
	const first = fieldOf(0);
	const isSame = !isExpression(field) || [...n8n.getInputData().keys()].every((item) => fieldOf(item) === first);
	if (isSame) return first;
	throw new Error('Linked Records: the field must be the same for all items, but its expression gives several. Choose one field, or map the values instead.');
}

/**
 * Reads the records picked beside the values.
 *
 * @throws Error in the user's words where no field was chosen, or too many records
 */
export function linkedRecordValues(n8n: IExecuteFunctions, linked: LinkedRecord[], fields: Field[], unsent: UnsentValues): LinkedValues {
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const picked = linked.flatMap(({ field, record, mayBeName }) => {
		if (field === '') throw new Error(`Linked Records: choose a field for the selected record.`);
		const link = links.get(field);
		if (!link) unsent.unknown(field);
		return link ? [{ link, label: link.label, value: record, mayBeName }] : [];
	});
	refuseSeveral(picked.map(({ link }) => link));
	if (picked.length === 0) return { names: () => [], all: () => [] };

	const read = evaluateValues(n8n, picked);
	// An expression that changes its item would give something else the second time.
	const before = new Map<number, unknown[]>();
	const valuesIn = (values: unknown[], onlyNames = false): FieldValue[] => {
		const found = new Map<Field, unknown>();
		for (const [i, selection] of picked.entries()) {
			const { field, isOneOfMany, valueFor } = selection.link;
			const ids = idsIn(values[i]);
			if ((onlyNames && !selection.mayBeName) || values[i] === undefined || (isFilledByModel(selection.value) && ids.length === 0)) continue;
			const others = (found.get(field) ?? []) as unknown[];
			found.set(field, isOneOfMany ? [...others, ...ids.map(valueFor)] : values[i]);
		}
		return [...found];
	};
	const hasNames = picked.some(({ mayBeName }) => mayBeName);
	return {
		names(item) {
			if (!hasNames) return [];
			before.set(item, read(item));
			return valuesIn(before.get(item)!, true);
		},
		all(item) {
			const values = before.get(item) ?? read(item);
			before.delete(item);
			for (const [i, { link, value }] of picked.entries()) {
				if (values[i] === undefined && !isFilledByModel(value)) unsent.noValue(link.field);
			}
			return valuesIn(values);
		},
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
