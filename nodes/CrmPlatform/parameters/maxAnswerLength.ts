import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

const defaultLength = 4_000;
const minLength = 500;

/** Of lists only: builders read each parameter again for each operation. */
export const maxAnswerLength: INodeProperties = {
	displayName: 'Maximum Answer Length',
	name: 'maxAnswerLength',
	type: 'number',
	typeOptions: { minValue: minLength },
	displayOptions: { show: { '@tool': [true], operation: ['getMany'] } },
	default: defaultLength,
	description: 'Maximum number of characters of an answer to the model; a longer one says what was left out',
};

export function maxAnswerLengthOf(n8n: IExecuteFunctions): number {
	const length = Number(n8n.getNodeParameter(maxAnswerLength.name, 0, defaultLength));
	return length >= minLength ? length : minLength;
}
