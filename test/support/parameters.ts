import type { IDataObject, INodeParameters } from 'n8n-workflow';

/** Parameters of the node as the editor stores them, one function for each operation. Records are not simplified. */

export const mapped = (value: IDataObject, more: IDataObject = {}) => ({
	mappingMode: 'defineBelow',
	value,
	matchingColumns: [],
	schema: [],
	...more,
});

/** Maps the values of the input items automatically. */
export const automatic = { fieldsMode: 'automatic' };

export const byId = (id: string) => ({ __rl: true, mode: 'id', value: id });

const parameters = (resource: string, operation: string, more: IDataObject) =>
	({ resource, operation, simplify: false, ...more }) as INodeParameters;

const fieldsOf = (fields: IDataObject): IDataObject => {
	if ('fieldsMode' in fields) return fields;
	return { fields: 'mappingMode' in fields ? fields : mapped(fields) };
};

export const create = (resource: string, fields: IDataObject) => parameters(resource, 'create', fieldsOf(fields));

export const update = (resource: string, id: string, fields: IDataObject) =>
	parameters(resource, 'update', { recordId: byId(id), ...fieldsOf(fields) });

export const upsert = (resource: string, matchOn: string, fields: IDataObject) =>
	parameters(resource, 'upsert', { fieldsMatchOn: matchOn, fields: mapped(fields) });

export const get = (resource: string, id: string, simplify = false) =>
	parameters(resource, 'get', { recordId: byId(id), simplify });

export const deleteRecord = (resource: string, id: string) =>
	parameters(resource, 'delete', { recordId: byId(id) });

/** Filters by equality, or by part of a text: `email`, `email[contains]`. */
export const filterRows = (filters: IDataObject) => ({
	rows: Object.entries(filters).map(([name, value]) => {
		const [, field, comparison] = /^(.+)\[(contains|starts_with)\]$/.exec(name) ?? [];
		return field ? { field, operator: comparison === 'contains' ? 'contains' : 'startsWith', value } : { field: name, operator: 'is', value };
	}),
});

/** By default, all records, not simplified. */
export const getMany = (resource: string, more: IDataObject = {}, filters: IDataObject = {}) =>
	parameters(resource, 'getMany', {
		returnAll: true,
		limit: 50,
		simplify: false,
		options: {},
		...more,
		filters: filterRows(filters),
	});

/** An operation on one record. */
export const on = (resource: string, operation: string, id: unknown, more: IDataObject = {}) =>
	parameters(resource, operation, { recordId: byId(String(id)), ...more });
