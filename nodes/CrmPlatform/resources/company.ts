import type { Resource } from '../model';
import { recordOperations, tagOperations } from '../operations/recordOperations';

export const company: Resource = {
	name: 'Company',
	value: 'company',
	path: '/companies',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [...recordOperations('a company', 'companies'), ...tagOperations],
};
