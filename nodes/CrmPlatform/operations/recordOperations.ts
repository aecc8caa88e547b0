import type { Operation, Resource } from '../model';
import { create } from './create';
import { deleteRecord } from './delete';
import { exportFile } from './exportFile';
import { get } from './get';
import { getMany } from './getMany';
import { importFile } from './importFile';
import { tagOperation } from './tags';
import { update } from './update';
import { upsert } from './upsert';

/**
 * The operations of every record type.
 *
 * @param singular the name of a record, for n8n's list of actions: `contact`
 */
export function recordOperations(singular: string): Operation[] {
	return [
		create(`Create ${singular}`),
		upsert(`Create or update ${singular}`),
		deleteRecord(`Delete ${singular}`),
		exportFile(),
		get(`Get ${singular}`),
		getMany(`Get many ${singular.replace(/y$/, 'ie')}s`),
		importFile(),
		update(`Update ${singular}`),
	];
}

const tagOperations: Operation[] = [
	tagOperation({ name: 'Add Tag', value: 'addTag', action: 'Add tag to record', description: 'Add a tag to a record' }),
	tagOperation({ name: 'Remove Tag', value: 'removeTag', action: 'Remove tag from record', description: 'Remove a tag from a record' }),
];

/**
 * A record type of everyday work: its records link to others, and have tags.
 *
 * @param more the operations that only it has
 */
export const everydayType = (
	named: Pick<Resource, 'name' | 'value' | 'path' | 'parents'>,
	more: Operation[] = [],
): Resource => ({
	...named,
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [...recordOperations(named.name.toLowerCase()), ...tagOperations, ...more],
});
