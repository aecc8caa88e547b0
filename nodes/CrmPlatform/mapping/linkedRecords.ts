import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { isLink, linksOf, type Link } from '../api/openapi/linkFields';
import type { EvaluatedValue } from '../fields/decideValue';
import type { Field, InputValue } from '../fields/field';
import { FieldError } from '../fields/fieldError';
import { asId, isName, parseName } from '../lookUp/names';
import { isBlank } from '../values/blank';
import { Evaluation } from './expressions/evaluation';
import { isFilledByModel } from './expressions/template';
import type { StoredLinkedRecord } from './storedFields';
import type { UnsentValue } from './unsentValues';

/** A stored linked record, with the evaluated name of its link. */
export interface LinkedRecord extends StoredLinkedRecord {
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

/** The values of an item, and those that are not sent. */
export interface EvaluatedItem {
	values: EvaluatedValue[];
	unsent: UnsentValue[];
}

/** The records picked beside the values, as values of the fields that link to them; records of one list become one value. */
export class LinkedRecordValues {
	/** Links that no field has. */
	readonly unknownLinks: UnsentValue[];
	private readonly prepared: PreparedRecord[];
	private readonly evaluation: Evaluation;

	/** @throws Error in the user's words if no field was chosen, or too many records */
	constructor(n8n: IExecuteFunctions, records: LinkedRecord[], fields: Field[]) {
		const links = new Map(linksOf(fields).map((link) => [link.name, link]));
		this.unknownLinks = records.flatMap(({ linkName: name }) => (links.has(name) ? [] : [{ reason: 'unknown', name }]));
		this.prepared = records.flatMap(({ linkName, record, mayBeName }) => {
			if (linkName === '') throw new Error('Linked Records: choose a field for the selected record.');
			const link = links.get(linkName);
			return link ? [{ link, label: link.label, value: record, mayBeName }] : [];
		});
		refuseSeveral(this.prepared.map(({ link }) => link));
		this.evaluation = new Evaluation(n8n, this.prepared);
	}

	/** Whether a record may be given by name. */
	get hasNames(): boolean {
		return this.prepared.some(({ mayBeName }) => mayBeName);
	}

	/** @throws FieldError if a record is named but cannot be looked up */
	read(item: number): EvaluatedItem {
		const results = this.evaluation.valuesOf(item);
		const records = this.prepared.map((record, i): EvaluatedRecord => ({ ...record, result: results[i] }));
		const withoutValue = records.filter(({ value, result }) => result === undefined && !isFilledByModel(value));
		return {
			values: byField(records).map((fieldValue) => ({ ...fieldValue, origin: 'chosen' })),
			unsent: withoutValue.map(({ link }) => ({ reason: 'noValue', name: link.field.label })),
		};
	}
}

interface PreparedRecord {
	link: Link;
	label: string;
	/** The ID or name as the workflow stores it. */
	value: unknown;
	mayBeName: boolean;
}

interface EvaluatedRecord extends PreparedRecord {
	/** The evaluated value for an item. */
	result: unknown;
}

function byField(records: EvaluatedRecord[]): InputValue[] {
	const values = new Map<Field, unknown>();
	for (const record of records) {
		const { link, value, result } = record;
		const picked = pickedValue(record);
		const ids = idsIn(picked);
		if (result === undefined || (isFilledByModel(value) && ids.length === 0)) continue;
		const others = (values.get(link.field) ?? []) as unknown[];
		values.set(link.field, link.isOneOfMany ? [...others, ...ids.map(link.valueFor)] : picked);
	}
	return [...values].map(([field, value]) => ({ field, value }));
}

/** @throws FieldError if the record is named, and it is unknown to which records the field links */
function pickedValue({ link: { field }, mayBeName, result }: EvaluatedRecord): unknown {
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

function refuseSeveral(links: Link[]): void {
	const twice = links.find((link, i) => !link.isOneOfMany && links.indexOf(link) !== i);
	if (twice) {
		throw new Error(`Linked Records: ${twice.label} accepts one record, but several are selected. Keep only one.`);
	}
}
