import { type Filter, isFreeText } from '../queries/filters.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { listParameter, type Parameter, queryParameter, documentationExample } from './parameter.ts';

/** The query parameter of a filter. */
export function filterParameter(filter: Filter): Parameter {
	const { description: _, readOnly: __, default: ___, ...described } = filter.schema;
	const { title, 'x-important': important, ...value } = described;
	const head: JsonSchema = {
		...(title !== undefined && { title }),
		...(important === true && { 'x-important': true }),
	};
	if (filter.takesList) {
		const verb = filter.isList ? 'include' : 'is';
		const words = `${title} ${verb} one of these.${filter.isList ? '' : caseWords(filter)}`;
		return headed(head, listParameter(filter.parameter, words, value));
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

/** With the name people know it by, and the mark of a field that they use first. */
const headed = (head: JsonSchema, { schema, ...parameter }: Parameter): Parameter => ({
	...parameter,
	schema: { ...head, ...schema },
});

/** How equality of texts takes upper and lower case; nothing where there is no choice. */
function caseWords({ operator, schema, type }: Filter): string {
	if (operator !== '=' || !isFreeText(schema)) return '';
	const [example] = schema.examples ?? [];
	if (typeof example !== 'string') return ' Case matters.';
	const upper = example.toUpperCase();
	// A phone number or a currency is written in one way only.
	if (upper === example) return '';
	return type.safeParse(upper).data === example ? ' Case does not matter.' : ' Case matters.';
}

const textWords = {
	contains: 'contains this, whatever its case and accents',
	starts_with: 'begins with this, whatever its case and accents',
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
