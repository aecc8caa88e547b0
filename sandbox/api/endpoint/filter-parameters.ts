import type { Parameter } from './responses.ts';
import { type Filter, isFreeText } from '../../domain/queries/filters.ts';
import { omit } from '../../core/foundation/json.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import { documentationExample, listParameter, queryParameter } from './parameters.ts';

/** The query parameter of a filter. */
export function filterParameter(filter: Filter): Parameter {
	const { title, 'x-important': important, ...value } = omit(filter.schema, 'description', 'readOnly', 'default');
	const head: JsonSchema = {...(title !== undefined && { title }),...(important === true && { 'x-important': true }) };
	if (filter.takesList) {
		const verb = filter.isList ? 'includes' : 'is';
		const words = `${title} ${verb} one of these.${filter.isList ? '' : caseWords(filter)}`;
		return headed(head, listParameter(filter.parameter, filter.description ?? words, value));
	}
	const words = value.format?.startsWith('date') ? timeWords : amountWords;
	const { examples, ...schema } = value;
	const description = `${title} ${words[filter.operator]}.${caseWords(filter)}`;
	const parameter = {
		...queryParameter(filter.parameter, description, schema),
		...(examples && documentationExample(examples[0])),
	};
	return filter.operator === '=' ? headed(head, parameter) : parameter;
}

/** Adds the field's title and whether it is important. */
const headed = (head: JsonSchema, { schema, ...parameter }: Parameter): Parameter => ({
	...parameter,
	schema: { ...head, ...schema },
});

/** The sentence that says whether equality ignores case; empty for values that have only one case. */
function caseWords({ operator, schema, type }: Filter): string {
	if (operator !== '=' || !isFreeText(schema)) return '';
	const [example] = schema.examples ?? [];
	if (typeof example !== 'string') return ' Case matters.';
	const upper = example.toUpperCase();
	// Phone numbers and currencies have only one case.
	if (upper === example) return '';
	return type.safeParse(upper).data === example ? ' Case does not matter.' : ' Case matters.';
}

const textWords = {
	contains: 'contains this, ignoring case and accents',
	starts_with: 'begins with this, ignoring case and accents',
	empty: 'is empty (true) or has a value (false)',
};

const amountWords = {
	...textWords,
	'=': 'is exactly this',
	'>=': 'is this or more',
	'>': 'is more than this',
	'<=': 'is this or less',
	'<': 'is less than this',
};

const timeWords = {
	...textWords,
	'=': 'is exactly this',
	'>=': 'is at this time or later',
	'>': 'is later than this',
	'<=': 'is at this time or earlier',
	'<': 'is earlier than this',
};
