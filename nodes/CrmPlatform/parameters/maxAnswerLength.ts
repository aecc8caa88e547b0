import type { IExecuteFunctions } from 'n8n-workflow';

import { readWholeNumber } from '../values/readers';
import { numberProperty } from './properties';

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
	return Math.max(minAnswerLength, readWholeNumber(maxAnswerLength.displayName, value, { otherwise: minAnswerLength }));
}
