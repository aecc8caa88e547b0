import { html } from 'hono/html';
import type { FormTexts } from '../pages/form-texts.ts';
import type { Html } from '../pages/page.ts';
import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';
import type { FormField } from './form-fields.ts';
import { firstRows, hasRows } from './form-values.ts';
import { isLongText } from './values.ts';

/** The texts and errors that a form shows. */
export interface FormState {
	/** The text of each input, by name. */
	texts: FormTexts;
	/** The errors, by the name of the input. */
	errors: ReadonlyMap<string, string[]>;
	/** Whether the record is new, so that a choice may be left to the service. */
	isNew: boolean;
}

/** A field of a form: one input, or a group of them for an object or a list. */
export function formInput(state: FormState, { name, schema, isRequired }: FormField): Html {
	if (schema.properties) return group(state, name, schema);
	if (!typesOf(schema).includes('array')) return labeled(state, name, schema, isRequired);
	if (hasRows(schema)) return rows(state, name, schema);
	return schema.items?.enum ? checkboxes(state, name, schema) : labeled(state, name, schema, isRequired);
}

const group = (state: FormState, name: string, schema: JsonSchema): Html =>
	Object.keys(schema.properties!).length === 0
		? html``
		: html`<fieldset class="group">
				<legend>${schema.title ?? name}</legend>
				${errorsAt(state, name)}
				<div class="fields">${members(state, name, schema)}</div>
			</fieldset>`;

const members = (state: FormState, name: string, { properties = {} }: JsonSchema) =>
	Object.entries(properties).map(([member, schema]) =>
		formInput(state, { name: `${name}.${member}`, schema, isRequired: false, isImportant: false }),
	);

function rows(state: FormState, name: string, schema: JsonSchema): Html {
	const visibleRows = shownRows(state, name, schema);
	const inputs = [...visibleRows, ...spareRows(visibleRows, schema)].map((i) => row(state, name, schema, i));
	return html`<fieldset class="group">
		<legend>${schema.title ?? name}</legend>
		<small id="${name}-hint">${schema.description} Empty rows are ignored.</small>
		${errorsAt(state, name)}
		${inputs.slice(0, visibleRows.length)}
		${addable(inputs.slice(visibleRows.length))}
	</fieldset>`;
}

const row = (state: FormState, name: string, schema: JsonSchema, i: number): Html =>
	html`<div class="fields line" role="group" aria-label="${schema.title} ${i + 1}">
		${errorsAt(state, `${name}.${i}`)} ${members(state, `${name}.${i}`, schema.items!)}
	</div>`;

/** Hidden rows; each click shows one more, without a script. */
const addable = (hidden: Html[]): Html | '' =>
	hidden.reduceRight<Html | ''>(
		(rest, hiddenRow) => html`<details class="add"><summary>Add row</summary>${hiddenRow}${rest}</details>`,
		'',
	);

/** The rows that are filled in or have errors, at least the first ones. */
function shownRows({ texts, errors }: FormState, name: string, { maxItems, items }: JsonSchema): number[] {
	const isUsed = (i: number): boolean =>
		[...errors.keys()].some((place) => `${place}.`.startsWith(`${name}.${i}.`)) ||
		Object.keys(items!.properties!).some((member) => Boolean(texts.get(`${name}.${i}.${member}`)));
	const rowNumbers = texts.rowsOf(name);
	const last = rowNumbers.findLastIndex(isUsed);
	// If there are too many rows, a few more than the maximum are shown.
	return rowNumbers.slice(0, Math.min(Math.max(last + 2, firstRows), Number(maxItems ?? 100) + 3));
}

const maxSpareRows = 20;

function spareRows(visibleRows: number[], schema: JsonSchema): number[] {
	const next = Math.max(-1, ...visibleRows) + 1;
	const count = Math.min(maxSpareRows, Number(schema['maxItems'] ?? 100) - visibleRows.length);
	return Array.from({ length: Math.max(0, count) }, (_, i) => next + i);
}

function checkboxes(state: FormState, name: string, schema: JsonSchema): Html {
	const chosen = state.texts.getAll(name).filter(Boolean);
	return html`<fieldset class="group">
		<legend>${schema.title ?? name}</legend>
		${errorsAt(state, name, { isList: true })}
		<input type="hidden" name="${name}" value="" />
		<div class="choices">
			${withUnlisted(optionLabels(schema.items!), chosen).map(
				([value, label]) => html`<label>
					<input type="checkbox" name="${name}" value="${value}" ${chosen.includes(value) ? 'checked' : ''} />
					${label}
				</label>`,
			)}
		</div>
	</fieldset>`;
}

function labeled(state: FormState, name: string, schema: JsonSchema, isRequired: boolean): Html {
	const isList = typesOf(schema).includes('array');
	const hint = [
		schema.description,
		schema.format === 'date-time' ? 'In UTC.' : '',
		isList && !('x-suggestions' in schema) ? 'One per line.' : '',
		'x-suggestions' in schema ? 'Type a name and select a match, or enter an ID.' : '',
	];
	return html`<div class="field">
		<label for="${name}">${schema.title ?? name}
			${isRequired ? html`<span class="quiet">(required)</span>` : ''}</label>
		${input(state, name, schema, isList, isRequired)}
		<small id="${name}-hint">${hint.filter(Boolean).join(' ')}</small>
		${errorsAt(state, name, { isList })}
	</div>`;
}

function input(state: FormState, name: string, schema: JsonSchema, isList: boolean, isRequired: boolean): Html {
	const text = state.texts.get(name) ?? '';
	const isWrong = messagesAt(state, name, isList).length > 0;
	const describedBy = `${name}-hint${isWrong ? ` ${name}-error` : ''}`;
	const common = html`id="${name}" name="${name}" aria-describedby="${describedBy}"
		${isWrong ? html`aria-invalid="true"` : ''} ${isRequired ? 'required' : ''}`;
	if (schema.enum || typesOf(schema).includes('boolean')) {
		const canBeEmpty = state.isNew || typesOf(schema).includes('null') || text === '';
		const choices = withUnlisted(optionLabels(schema), text === '' ? [] : [text]);
		return html`<select ${common}>
			${canBeEmpty ? html`<option value=""></option>` : ''}
			${choices.map(
				([value, label]) =>
					html`<option value="${value}" ${value === text ? 'selected' : ''}>${label}</option>`,
			)}
		</select>`;
	}
	const suggestions = schema['x-suggestions'] as Record<string, string> | undefined;
	if (suggestions) {
		const suggestionInput = (text: string, common: Html) =>
			html`<input ${common} list="${name}-list" autocomplete="off" value="${text}" />`;
		const [first = '', ...others] = isList ? state.texts.getAll(name).flatMap((entry) => entry.split('\n')) : [text];
		const another = (entry: string, i: number) =>
			suggestionInput(entry, html`name="${name}" aria-label="${schema.title} ${i + 2}"`);
		return html`${suggestionInput(first, common)}
			${isList ? [...others.filter(Boolean), ''].map(another) : ''}
			${isList ? addable(Array.from({ length: maxSpareRows }, (_, i) => another('', others.length + 1 + i))) : ''}
			<datalist id="${name}-list">
				${Object.entries(suggestions).map(([id, label]) => html`<option value="${label} (${id})"></option>`)}
			</datalist>`;
	}
	// An input of one line would lose line breaks.
	if (isList || isLongText(schema) || text.includes('\n')) {
		// The first line feed of a text area is not part of its text.
		return html`<textarea ${common} rows="${isList ? 3 : 5}">${`\n${text}`}</textarea>`;
	}
	return html`<input ${common} ${typeOf(schema)} autocomplete="off" value="${text}" />`;
}

/** The type of an input, if browsers send exactly what is typed; the service validates everything else. */
function typeOf(schema: JsonSchema): Html {
	if (schema.format === 'date') return html`type="date"`;
	if (schema.format === 'date-time') return html`type="datetime-local" step="any"`;
	if (schema.format === 'email') return html`inputmode="email"`;
	const isNumber = ['number', 'integer'].some((type) => typesOf(schema).includes(type));
	return isNumber ? html`inputmode="decimal"` : html`type="text"`;
}

function optionLabels(schema: JsonSchema): Array<[string, string]> {
	if (!schema.enum) return [['true', 'Yes'], ['false', 'No']];
	const labels = (schema['x-enum-labels'] ?? {}) as Record<string, string>;
	return schema.enum
		.filter((value) => value !== null)
		.map((value) => [String(value), labels[String(value)] ?? String(value)]);
}

/** Keeps the record's current values selectable even if they are no longer options. */
const withUnlisted = (choices: Array<[string, string]>, chosen: string[]): Array<[string, string]> => [
	...choices,
	...chosen
		.filter((value) => !choices.some(([offered]) => offered === value))
		.map((value): [string, string] => [value, value]),
];

function messagesAt({ errors }: FormState, name: string, isList: boolean): string[] {
	const isIn = (place: string) => place === name || (isList && place.startsWith(`${name}.`));
	return [...errors].flatMap(([place, messages]) => (isIn(place) ? messages : []));
}

function errorsAt(state: FormState, name: string, { isList = false } = {}): Html | '' {
	const messages = messagesAt(state, name, isList);
	return messages.length === 0 ? '' : html`<p class="error" id="${name}-error">${messages.join(' ')}</p>`;
}
