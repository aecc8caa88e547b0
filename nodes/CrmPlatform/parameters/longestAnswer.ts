import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

const usual = 4_000;
const least = 500;

/** Of lists only: builders read each parameter again for each operation. */
export const longestAnswer: INodeProperties = {
	displayName: 'Maximum Answer Length',
	name: 'longestAnswer',
	type: 'number',
	typeOptions: { minValue: least },
	displayOptions: { show: { '@tool': [true], operation: ['getMany'] } },
	default: usual,
	description: 'Maximum number of characters of an answer to the model; a longer one says what was left out',
};

export function longestAnswerOf(n8n: IExecuteFunctions): number {
	const length = Number(n8n.getNodeParameter(longestAnswer.name, 0, usual));
	return length >= least ? length : least;
}
