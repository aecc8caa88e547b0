import type { INodeProperties } from 'n8n-workflow';

import { checkExact } from '../base/numbers';
import type { Execution } from '../model';

/** Option for writes that must happen once across all executions. */
export const writeOncePerOption: INodeProperties = {
	displayName: 'Write Once Per',
	name: 'writeOncePer',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.orderNumber }}',
	description: 'A value that identifies the item or file, such as an order number. For about a day, each value is written once, even across executions.',
};

/** Whether the user has set Write Once Per. n8n keeps options of a previously chosen operation. */
export function hasWriteOncePer({ n8n, operation }: Execution): boolean {
	if (!operation.options?.some(({ name }) => name === writeOncePerOption.name)) return false;
	const { options } = n8n.getNode().parameters as { options?: { writeOncePer?: unknown } };
	const raw = options?.writeOncePer;
	return raw !== undefined && raw !== null && raw !== '';
}

/**
 * The value for which an item is written once.
 *
 * @throws Error in the user's words if it is empty or not a single value
 */
export function writeOncePer({ n8n }: Execution, item: number): string {
	const value: unknown = n8n.getNodeParameter('options.writeOncePer', item, '');
	checkExact('Write Once Per', value);
	const isSingle = typeof value === 'string' || typeof value === 'number';
	if (isSingle && String(value).trim() !== '') return String(value);
	throw new Error(
		'Write Once Per: the expression returned no text or number for this item, so nothing was sent. Choose a value that every item has.',
	);
}
