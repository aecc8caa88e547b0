import type { Operation, Resource } from '../model';
import { count } from './count';
import { exportFile } from './exportFile';
import { get } from './get';
import { getMany } from './getMany';
import { getTimeline, haveTimeline } from './getTimeline';
import { importFile } from './importFile';
import { upsert } from './upsert';
import { create, deleteRecord, tagOperation, update } from './writeRecord';

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
		getMany(`Get many ${pluralOf(singular)}`),
		importFile(),
		update(`Update ${singular}`),
	];
}

const pluralOf = (singular: string): string => `${singular.replace(/y$/, 'ie')}s`;

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
	operations: [
		count(`Count ${pluralOf(named.name.toLowerCase())}`),
		...recordOperations(named.name.toLowerCase()),
		...(haveTimeline.includes(named.path) ? [getTimeline(`Get timeline of ${named.name.toLowerCase()}`)] : []),
		...tagOperations,
		...more,
	],
});
