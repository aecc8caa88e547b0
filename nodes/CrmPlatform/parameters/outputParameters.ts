import type { INodeProperties, IExecuteFunctions } from 'n8n-workflow';

import { parseWholeNumber } from '../values/parsers';
import { booleanProperty, choiceProperty, chosenOption, listedChoice, numberProperty, textProperty } from './properties';

export const simplifyProperty = booleanProperty('Simplify', 'simplify', true, 'Whether to return a simplified version of the response instead of the raw data', {
	// Without expressions, n8n does not offer to let a model decide either.
	noDataExpression: true,
});

/** The option that outputs the chosen fields instead of the simplified or the whole record. */
export const outputFieldsOption =
	listedChoice({ displayName: 'Output Field Names or IDs', name: 'outputFields' }, 'getOutputFields', ['resource', 'kind']);

export const addNamesOption = booleanProperty('Names of Linked Records', 'addNames', true, 'Whether to add names beside IDs, such as company_name', {
	noDataExpression: true,
});

/** How many records are output: n8n stores each item that a node outputs. */
export const outputOption = choiceProperty('Return', 'output', 'items', [
	['All Items', 'items'],
	['Summary', 'summary', 'One item with the counts, the failures, and the first and last ID'],
], { description: 'With a summary, n8n stores a single item' });

export const previewOption = booleanProperty('Preview', 'preview', true, 'Whether to only return what would change');

/** Options of all operations that write and return the record. */
export const writeOptions: INodeProperties[] = [outputOption, previewOption, addNamesOption];

export const batchOptions: INodeProperties[] = [
	numberProperty('Batch Size', 'batchSize', 0, {
		noDataExpression: true,
		typeOptions: { minValue: 0 },
		description: 'Items per request; 0 is as many as the CRM allows',
	}),
	...writeOptions,
];

export const writeOncePerOption = textProperty('Write Once Per', 'writeOncePer', {
	placeholder: 'e.g. {{ $json.orderNumber }}',
	description: 'A value such as an order number. For about a day, each value is written once, even across executions.',
});

/** Whether a summary is output instead of all items. @throws Error in the user's words if the option has an invalid value */
export const isSummary = (n8n: IExecuteFunctions): boolean => chosenOption(n8n, 0, outputOption, 'options.output') === 'summary';

const defaultLength = 4_000;
export const minAnswerLength = 500;

/** Only lists have it, since AI builders read each parameter again for each operation. */
export const maxAnswerLength = numberProperty('Maximum Answer Length', 'maxAnswerLength', defaultLength, {
	noDataExpression: true,
	typeOptions: { minValue: minAnswerLength },
	displayOptions: { show: { '@tool': [true], operation: ['getMany'] } },
	description: 'Maximum characters of an answer to the model',
});

/** A shorter length is raised to the minimum. @throws Error in the user's words if it is not a whole number */
export function maxAnswerLengthOf(n8n: IExecuteFunctions): number {
	const value: unknown = n8n.getNodeParameter(maxAnswerLength.name, 0, defaultLength);
	return Math.max(minAnswerLength, parseWholeNumber(maxAnswerLength.displayName, value, { otherwise: minAnswerLength }));
}
