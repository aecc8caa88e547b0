import type { IExecuteFunctions } from 'n8n-workflow';

import type { Field } from '../fields/field';
import { linksOf, type Link } from '../api/openapi/linkFields';
import { isBlank } from '../fields/blank';
import { evaluateValues } from './expressions/evaluateValues';
import type { FieldValue } from './objectFields';
import { isFilledByModel, type LinkedRecord } from './stored';
import type { UnsentValues } from './unsentValues';

/** The records of the items, as values of the fields that refer to them; several of one list come as one value. */
export interface LinkedValues {
	/** Those that may be names. They are read before all of the item. */
	names(item: number): FieldValue[];
	all(item: number): FieldValue[];
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
		for (const [i, one] of picked.entries()) {
			const { field, isOneOfMany, valueFor } = one.link;
			const ids = idsIn(values[i]);
			if ((onlyNames && !one.mayBeName) || values[i] === undefined || (isFilledByModel(one.value) && ids.length === 0)) continue;
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
