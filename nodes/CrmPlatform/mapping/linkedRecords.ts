import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { isLink, linksOf } from '../api/openapi/linkFields';
import type { EvaluatedValue } from '../fields/decideValue';
import type { Field } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { asId, isName, parseName } from '../lookUp/names';
import { isBlank } from '../values/blank';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import type { StoredLinkedRecord } from './storedFields';
import type { UnsentValue } from './unsentValues';

/** A stored linked record, with the evaluated name of its link. */
interface LinkedRecord extends StoredLinkedRecord {
	linkName: string;
}

/** @throws Error in the user's words if the field of a record differs between items */
export const linkedRecords = (n8n: IExecuteFunctions, stored: StoredLinkedRecord[]): LinkedRecord[] =>
	stored.map((record) => ({ ...record, linkName: linkNameForAll(n8n, record.linkName) }));

function linkNameForAll(n8n: IExecuteFunctions, linkName: unknown): string {
	const evaluation = new Evaluation(n8n, [{ label: 'Linked Records', value: linkName }]);
	const linkNameOf = (item: number) => String(evaluation.valuesOf(item)[0] ?? '');
	const first = linkNameOf(0);
	const isSame = !isExpression(linkName) || [...n8n.getInputData().keys()].every((item) => linkNameOf(item) === first);
	if (isSame) return first;
	throw new Error('Linked Records: the field must be the same for all items, but its expression returns several. Choose one field, or map the values instead.');
}

/** An item, once it is read. */
interface ReadItem {
	values: EvaluatedValue[];
	/** The values that are not sent. */
	unsent: UnsentValue[];
	/** Why none of its values can be sent. */
	refusal?: Error;
}

/** Reads the values of items that accept the same fields. */
export interface ItemReader {
	/** The values that no item can send, because their names belong to no field. */
	neverSent: UnsentValue[];
	/** Whether `read` can return names of other records. */
	mayNameRecords(item: number): boolean;
	/** @throws Error in the user's words if an expression fails, or an item cannot be read */
	read(item: number): ReadItem;
}

/**
 * Reads the records picked beside the values, as values of the fields that link to them; records of one list become one value.
 *
 * @throws Error in the user's words if no field was chosen, or too many records
 */
export function linkedReader(n8n: IExecuteFunctions, records: LinkedRecord[], fields: Field[]): ItemReader {
	const links = new Map(linksOf(fields).map((link) => [link.name, link]));
	const prepared = records.flatMap(({ linkName, record, mayBeName }) => {
		if (linkName === '') throw new Error('Linked Records: choose a field for the selected record.');
		const link = links.get(linkName);
		return link ? [{ link, label: link.label, value: record, mayBeName }] : [];
	});
	const twice = prepared.find(({ link }, i) => !link.isOneOfMany && prepared.findIndex((other) => other.link === link) !== i);
	if (twice) throw new Error(`Linked Records: ${twice.label} accepts one record, but several are selected. Keep only one.`);
	const evaluation = new Evaluation(n8n, prepared);
	const hasNames = prepared.some(({ mayBeName }) => mayBeName);
	return {
		neverSent: records.flatMap(({ linkName: name }): UnsentValue[] => (links.has(name) ? [] : [{ reason: 'unknown', name }])),
		mayNameRecords: () => hasNames,
		read(item) {
			const results = evaluation.valuesOf(item);
			const values = new Map<Field, unknown>();
			const unsent: UnsentValue[] = [];
			for (const [i, { link, value, mayBeName }] of prepared.entries()) {
				const { field } = link;
				const picked = pickedValue(field, results[i], mayBeName);
				const ids = idsIn(picked);
				if (results[i] !== undefined && (ids.length > 0 || !isFilledByModel(value))) {
					values.set(field, link.isOneOfMany ? [...idsIn(values.get(field)), ...ids.map(link.valueFor)] : picked);
				} else if (!isFilledByModel(value)) {
					unsent.push({ reason: 'noValue', name: field.label });
				}
			}
			return { values: [...values].map(([field, value]) => ({ field, value, origin: 'chosen' })), unsent };
		},
	};
}

/** @throws FieldError if the record is named, and it is unknown to which records the field links */
function pickedValue(field: Field, result: unknown, mayBeName: boolean): unknown {
	if (mayBeName && isLink(field)) return result;
	const isNamed = mayBeName && idsIn(result).some((id) => isName(field, id) && parseName(id).field !== 'id');
	if (isNamed) throw new FieldError(field, unknownCollection);
	return asId(field, result);
}

const unknownCollection =
	'a record cannot be looked up by name, because the credential may not read custom fields, which say what they link to. Use the ID.';

/** The ids that an expression returned: any number of them. */
function idsIn(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return isBlank(value) ? [] : [value];
}
