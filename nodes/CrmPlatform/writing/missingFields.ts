import type { IDataObject } from 'n8n-workflow';

import { customFieldOf, type Definition, customFieldsIfAny } from '../api/customFields';
import { readPage } from '../api/lists/pages';
import { customFieldPrefix, fieldNamed, type Field, type FieldKind } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { inApiNotation, type Notations } from '../fields/notations';
import { chosenNotations } from '../mapping/chosenNotations';
import { unknownName, type Column, type ColumnMatch } from '../mapping/columnMatch';
import type { Execution } from '../model';
import { foldedText, unaccentedText } from '../values/foldedText';
import { keyDigest } from '../base/digest';
import type { MissingRecords } from './missingRecords';
import { writeOne } from './writeOne';

/** The types of new custom fields, the narrowest first. */
const types: Array<{ type: string; label: string; kind: FieldKind; values: RegExp }> = [
	{ type: 'boolean', label: 'Boolean', kind: 'boolean', values: /^(true|false)$/i },
	// Leading zeros, and more digits than a number has, are those of a key.
	{ type: 'number', label: 'Number', kind: 'number', values: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/ },
	{ type: 'date', label: 'Date', kind: 'date', values: /^\d{4}-\d\d-\d\d$/ },
	{ type: 'datetime', label: 'Date and Time', kind: 'dateTime', values: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/ },
	{ type: 'text', label: 'Text', kind: 'text', values: /^.{1,255}$/ },
	{ type: 'long_text', label: 'Long Text', kind: 'text', values: /^/ },
];

/** The types that a value fits. */
export function fittingTypes(value: unknown, notations: Notations): string[] {
	const text = (kind: FieldKind) => {
		const read = fieldErrorOr(() => inApiNotation(fieldNamed('new', { kind }), value, notations));
		return read instanceof FieldError ? '' : String(read);
	};
	return types.filter(({ kind, values }) => values.test(text(kind))).map(({ type }) => type);
}

interface Target {
	/** Path of the records. */
	path: `/${string}`;
	fields: Field[];
	isPreview: boolean;
	missing: MissingRecords;
}

/**
 * Creates custom fields for the columns that no field fits, and the choices that columns have and their custom fields do
 * not; in a preview, only for the preview itself.
 */
export async function addMissingFields(execution: Execution, target: Target, columns: Column[], matches: ColumnMatch[]): Promise<void> {
	if (!target.missing.creates('customFields') && !target.missing.creates('choices')) return;
	const custom = await customFieldsIfAny(execution.api, `/v1${target.path}`, target.fields);
	if (!custom) return;
	for (const [i, match] of matches.entries()) {
		const column = columns[i]!;
		if (target.missing.creates('customFields') && match.why.startsWith(unknownName) && match.filled > 0) {
			const taken = new Set([...custom.fields.map(({ name }) => name), ...custom.unwritableNames]);
			const { field, label } = await newField(execution, target, column, taken);
			custom.fields.push(field);
			Object.assign(match, { meaning: field, isRenamed: true, why: `A new custom field: ${label}` });
		}
		const { meaning } = match;
		const isOfChoices = typeof meaning === 'object' && ['select', 'multi_select'].includes(meaning.type ?? '');
		if (target.missing.creates('choices') && isOfChoices) await addChoices(execution, target, meaning, column);
	}
}

async function newField(execution: Execution, target: Target, { name, types: fitting }: Column, taken: ReadonlySet<string>): Promise<{ field: Field; label: string }> {
	const { type, label } = types.find((candidate) => fitting?.has(candidate.type)) ?? types.at(-1)!;
	const plainName = unaccentedText(name).replace(/[^a-z\d]+/g, '_').replace(/^[\d_]+|_+$/g, '').slice(0, 55) || 'field';
	let key = plainName;
	for (let number = 2; taken.has(customFieldPrefix + key); number += 1) key = `${plainName}_${number}`;
	const definition: Definition = { key, label: name.slice(0, 100), type };
	target.missing.note('custom fields', `${name}: ${label}`);
	if (!target.isPreview) await write(execution, 'create', '', { resource: resourceOf(target), ...definition });
	return { field: customFieldOf(definition), label };
}

async function addChoices(execution: Execution, target: Target, field: Field, { values = new Set() }: Column): Promise<void> {
	const notations = chosenNotations(execution.n8n) ?? {};
	const choices = (field.choices ??= []);
	const isChoice = (text: string) => choices.some(({ label, value }) => foldedText(label) === foldedText(text) || value === text);
	const texts = [...values].flatMap((value) => inApiNotation(field, value, notations)).map((text) => String(text).trim());
	const added = [...new Map(texts.filter((text) => !isChoice(text)).map((text) => [foldedText(text), text])).values()];
	if (added.length === 0) return;
	for (const text of added) {
		target.missing.note(`choices of ${field.label}`, text);
		choices.push({ label: text.slice(0, 100), value: text.replaceAll(',', ' ').slice(0, 100) });
	}
	if (target.isPreview) return;
	const key = field.path.at(-1)!;
	const list = (await execution.api.describe('/custom-fields'))?.list;
	const page = list && (await readPage(execution.api.send, '/v1/custom-fields', { list, query: { resource: resourceOf(target), key } }));
	const [definition, ...others] = page?.records ?? [];
	if (!definition || others.length > 0) throw new Error(`The CRM does not find the definition of “${field.label}”, so nothing was written.`);
	await write(execution, 'update', `/${encodeURIComponent(String(definition.id))}`, { options: choices });
}

const resourceOf = ({ path }: Target): string => decodeURIComponent(path.slice(1));

async function write(execution: Execution, operation: 'create' | 'update', at: string, body: IDataObject): Promise<void> {
	const description = (await execution.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	await writeOne(execution, description, { collection: '/v1/custom-fields', path: `/v1/custom-fields${at}`, body }, [0, -2, keyDigest(JSON.stringify([at, body]))]);
}
