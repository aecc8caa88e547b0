import type { Operation } from '../model';
import { create } from './create';
import { deleteRecord } from './delete';
import { exportFile } from './exportFile';
import { get } from './get';
import { getMany } from './getMany';
import { importFile } from './importFile';
import { addTag, removeTag } from './tags';
import { update } from './update';
import { upsert } from './upsert';

/**
 * The operations of every kind of record.
 *
 * @param one as n8n's list of actions says it: `a contact`
 * @param many the same for several: `contacts`
 */
export function recordOperations(one: string, many: string): Operation[] {
	return [
		create(`Create ${one}`),
		upsert(`Create or update ${one}`),
		deleteRecord(`Delete ${one}`),
		exportFile(),
		get(`Get ${one}`),
		getMany(`Get many ${many}`),
		importFile(),
		update(`Update ${one}`),
	];
}

export const tagOperations: Operation[] = [addTag(), removeTag()];
