import { html } from 'hono/html';
import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';
import type { Html } from '../pages/page.ts';
import type { FormField } from './form-fields.ts';
import { isJson } from './form-values.ts';
import { isLongText } from './values.ts';

/** The texts and errors that a form shows. */
export interface FormState {
	/** The text of each input, by name. */
	texts: URLSearchParams;
	/** The errors, by the name of the input. */
	errors: ReadonlyMap<string, string[]>;
	/** Whether the record is new, so that a choice may be left to the service. */
	isNew: boolean;
}

/** A field of a form, with its label, hint and errors. */
export function formInput(state: FormState, { name, schema, isRequired }: FormField): Html {
	const messages = state.errors.get(name) ?? [];
	const hint = [
		schema.description,
		schema.format === 'date-time' ? 'In UTC.' : '',
		isJson(schema) ? `As JSON, such as ${jsonExample(schema)}.` : '',
	];
	return html`<div class="field">
		<label for="${name}">${schema.title ?? name}
			${isRequired ? html`<span class="quiet">(required)</span>` : ''}</label>
		${input(state, name, schema, isRequired, messages.length > 0)}
		<small id="${name}-hint">${hint.filter(Boolean).join(' ')}</small>
		${messages.length === 0 ? '' : html`<p class="error" id="${name}-error">${messages.join(' ')}</p>`}
	</div>`;
}

/** An example of a list or an object: of a list, one item. */
function jsonExample(schema: JsonSchema): string {
	const [example] = schema.examples ?? schema.items?.examples?.map((item) => [item]) ?? [];
	if (example !== undefined) return JSON.stringify(example);
	const { properties } = schema.items ?? schema;
	const members = Object.entries(properties ?? {}).filter(([, member]) => member.examples);
	const object = Object.fromEntries(members.map(([member, { examples }]) => [member, examples![0]]));
	return JSON.stringify(schema.items ? [properties ? object : (schema.items.enum?.[0] ?? '…')] : object);
}

function input(state: FormState, name: string, schema: JsonSchema, isRequired: boolean, isWrong: boolean): Html {
	const text = state.texts.get(name) ?? '';
	const describedBy = `${name}-hint${isWrong ? ` ${name}-error` : ''}`;
	const common = html`id="${name}" name="${name}" aria-describedby="${describedBy}"
		${isWrong ? html`aria-invalid="true"` : ''} ${isRequired ? 'required' : ''}`;
	if (schema.enum || typesOf(schema).includes('boolean')) {
		const canBeEmpty = state.isNew || typesOf(schema).includes('null') || text === '';
		return html`<select ${common}>
			${canBeEmpty ? html`<option value=""></option>` : ''}
			${optionLabels(schema, text).map(
				([value, label]) =>
					html`<option value="${value}" ${value === text ? 'selected' : ''}>${label}</option>`,
			)}
		</select>`;
	}
	// An input of one line would lose line breaks.
	if (isJson(schema) || isLongText(schema) || text.includes('\n')) {
		// The first line feed of a text area is not part of its text.
		return html`<textarea ${common} rows="5">${`\n${text}`}</textarea>`;
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

/** The options of a choice; the record's current value stays selectable even if it is no longer an option. */
function optionLabels(schema: JsonSchema, current: string): Array<[string, string]> {
	const labels = (schema['x-enum-labels'] ?? {}) as Record<string, string>;
	const values = schema.enum?.filter((value) => value !== null).map(String);
	const options = values?.map((value): [string, string] => [value, labels[value] ?? value]) ?? [['true', 'Yes'], ['false', 'No']];
	const isUnlisted = current !== '' && !options.some(([value]) => value === current);
	return isUnlisted ? [...options, [current, current]] : options;
}
