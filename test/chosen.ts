import { fileOperations, recordOperations, tagOperations } from '../nodes/CrmPlatform/operations/recordOperations';
import { adminMenu, resourceNamed } from '../nodes/CrmPlatform/resources';

const entries = { record: recordOperations, file: fileOperations, recordTag: tagOperations };

/** How a workflow stores an operation on a kind of record: what several kinds have has an entry of its own in the menu. */
export function chosen(kind: string, operation: string): { resource: string; operation: string; kind?: string } {
	const found = resourceNamed(kind)?.operations.find(({ option }) => option.value === operation);
	const [resource] = Object.entries(entries).find(([, operations]) => operations.some((one) => one === found)) ?? [];
	return resource === undefined || !found ? { resource: kind, operation } : { resource, operation, kind };
}

const kinds = adminMenu.find(({ value }) => value === 'record')!.kinds!.map(({ value }) => value);
const entriesOfAdmin = adminMenu.map(({ value }) => value).filter((value) => value !== 'record');

/** Whether it is CRM Platform Admin that has the entry of the menu, or the kind of records. */
export const isAdministration = (resource: unknown, kind: unknown): boolean =>
	resource === 'record' ? kinds.includes(String(kind)) : entriesOfAdmin.includes(String(resource));
