import { isExpression, type IExecuteFunctions } from 'n8n-workflow';

import { linksOf, type Link } from '../api/openapi/linkFields';
import type { Field } from '../fields/field';
import { isBlank } from '../values/blank';
import { Evaluation } from './expressions/evaluation';
import type { FieldValue } from './objectFields';
import { OncePerItem } from './oncePerItem';
import { isFilledByModel, type StoredLink } from './storedFields';
import type { UnsentValues } from './unsentValues';

/** A record that the user picked, and the name of the Link. */
export interface LinkedRecord extends StoredLink {
	field: string;
}

/** @throws Error in the user's words where the items give several fields */
export const linkedRecords = (n8n: IExecuteFunctions, stored: StoredLink[]): LinkedRecord[] =>
	stored.map((link) => ({ ...link, field: fieldForAll(n8n, link.field) }));

function fieldForAll(n8n: IExecuteFunctions, field: unknown): string {
	const evaluation = new Evaluation(n8n, [{ label: 'Linked Records', value: field }]);
	const fieldOf = (item: number) => String(evaluation.valuesOf(item)[0] ?? '');
	const first = fieldOf(0);
	const isSame = !isExpression(field) || [...n8n.getInputData().keys()].every((item) => fieldOf(item) === first);
	if (isSame) return first;
	throw new Error('Linked Records: the field must be the same for all items, but its expression gives several. Choose one field, or map the values instead.');
}

/** The records picked beside the values, as values of the fields that refer to them; several of one list come as one value. */
export class LinkedValues {
	private readonly unsent: UnsentValues;
	private readonly picked: Array<{ link: Link; label: string; value: unknown; mayBeName: boolean }>;
	private readonly evaluated: OncePerItem<unknown[]>;

	/** @throws Error in the user's words where no field was chosen, or too many records */
	constructor(n8n: IExecuteFunctions, linked: LinkedRecord[], fields: Field[], unsent: UnsentValues) {
		const links = new Map(linksOf(fields).map((link) => [link.name, link]));
		this.unsent = unsent;
		this.picked = linked.flatMap(({ field, record, mayBeName }) => {
			if (field === '') throw new Error('Linked Records: choose a field for the selected record.');
			const link = links.get(field);
			if (!link) unsent.unknown(field);
			return link ? [{ link, label: link.label, value: record, mayBeName }] : [];
		});
		refuseSeveral(this.picked.map(({ link }) => link));
		const evaluation = new Evaluation(n8n, this.picked);
		this.evaluated = new OncePerItem((item) => evaluation.valuesOf(item));
	}

	/** Those that may be names. They are read before the item's turn. */
	names(item: number): FieldValue[] {
		return this.picked.some(({ mayBeName }) => mayBeName) ? this.byField(this.evaluated.readEarly(item), true) : [];
	}

	all(item: number): FieldValue[] {
		const values = this.evaluated.readInTurn(item);
		for (const [i, { link, value }] of this.picked.entries()) {
			if (values[i] === undefined && !isFilledByModel(value)) this.unsent.noValue(link.field);
		}
		return this.byField(values);
	}

	private byField(values: unknown[], onlyNames = false): FieldValue[] {
		const found = new Map<Field, unknown>();
		for (const [i, { link, value, mayBeName }] of this.picked.entries()) {
			const ids = idsIn(values[i]);
			if ((onlyNames && !mayBeName) || values[i] === undefined || (isFilledByModel(value) && ids.length === 0)) continue;
			const others = (found.get(link.field) ?? []) as unknown[];
			found.set(link.field, link.isOneOfMany ? [...others, ...ids.map(link.valueFor)] : values[i]);
		}
		return [...found];
	}
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
