import type { INodeProperties } from 'n8n-workflow';

import { checkExact } from '../base/numbers';
import { storedParameter } from '../mapping/storedParameter';
import type { Execution } from '../model';
import { isBlank } from '../values/blank';

/** Option for writes that must happen once across all executions. */
export const writeOncePerOption: INodeProperties = {
	displayName: 'Write Once Per',
	name: 'writeOncePer',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.orderNumber }}',
	description: 'A value such as an order number. For about a day, each value is written once, even across executions.',
};

/** Whether the user has set Write Once Per. */
export function hasWriteOncePer({ n8n }: Execution): boolean {
	const stored = storedParameter(n8n, 'options.writeOncePer', '');
	return stored !== null && stored !== '';
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
	if (isSingle && !isBlank(value)) return String(value);
	throw new Error(
		'Write Once Per: the expression returned no text or number for this item, so nothing was sent. Choose a value that every item has.',
	);
}
