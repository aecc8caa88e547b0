import { defined } from '../../base/ownMembers';
import { allCustomFields, labelFor, type Field } from '../../fields/field';
import { fieldKinds } from '../../fields/fieldKinds';
import { isLink } from './linkFields';
import { field } from './schema';
import { comparedBy } from '../../fields/condition';
import { describeJob, type JobDescription } from './writing';
import { parameterChoices, parameterFor, type DescribedOperation, type Parameter } from './operation';

/** The fields and parameters of a list for the times at which records were created, changed and deleted. */
interface RecordTimes {
	/** The creation time, which never changes, and the parameters for a half-open interval. */
	created?: { field: string; from: string; before: string };
	/** The time of the last change, and the parameters that list records changed since and before an instant. */
	changed?: { field: string; since: string; until?: string };
	/** The time of deletion, and the parameter that includes deleted records. */
	deleted?: { field: string; parameter: string };
}

export interface ListDescription extends RecordTimes {
	cursor: string;
	/** The parameter for the size of a page, and the largest page the service gives. */
	pageSize?: { name: string; maximum: number };
	/** The parameter for the order, the orders it takes, and the default order. */
	sort?: { name: string; values: string[]; default?: string };
	search?: string;
	/** The parameter that names the fields to return. */
	fields?: string;
	filters: Field[];
	/** Whether custom fields are filters too (see allFilters). */
	takesCustomFields?: true;
	/** The comparisons of filters by custom fields, by type of field, if the service names them. */
	customComparisons?: Record<string, string[]>;
	/** The types of custom fields that can be filtered by several values at once, if the service names them. */
	customLists?: string[];
	/** The background job that exports the list. */
	job?: JobDescription;
}

/** Maximum page size if the document does not state it: small enough for any service. */
const defaultPageSize = 100;

export function describeList(collection: string, operation: DescribedOperation): ListDescription {
	const { query } = operation;
	const cursor = parameterFor('cursor', query)?.name ?? 'cursor';
	const pageSize = parameterFor('pageSize', query);
	const sort = parameterFor('sort', query);
	const search = parameterFor('search', query)?.name;
	const fields = parameterFor('fields', query)?.name;
	const { maximum = defaultPageSize } = pageSize?.schema ?? {};
	const usualOrder = sort?.schema.default;
	const reservedParameters = [cursor, pageSize?.name, sort?.name, fields];
	return defined({
		cursor,
		...recordTimes(query.map(({ name }) => name)),
		pageSize: pageSize && { name: pageSize.name, maximum: Math.max(1, Math.floor(maximum)) },
		sort: sort && defined({
			name: sort.name,
			values: parameterChoices(sort),
			default: usualOrder === undefined ? undefined : [usualOrder].flat().join(),
		}),
		search,
		fields,
		filters: describeFilters(operation, query.filter(({ name }) => !reservedParameters.includes(name))),
		takesCustomFields: operation.takesCustomFields ? (true as const) : undefined,
		customComparisons: operation.customComparisons,
		customLists: operation.customLists,
		job: describeJob(collection, operation),
	});
}

/** Finds the time parameters among the names of a list's parameters (rule 11). */
function recordTimes(parameters: string[]): RecordTimes {
	const has = (name: string) => parameters.includes(name);
	return {
		...(has('created_at[gte]') && has('created_at[lt]') && {
			created: { field: 'created_at', from: 'created_at[gte]', before: 'created_at[lt]' },
		}),
		...(has('updated_since') && {
			changed: { field: 'updated_at', since: 'updated_since', ...(has('updated_until') && { until: 'updated_until' }) },
		}),
		...(has('include_deleted') && { deleted: { field: 'deleted_at', parameter: 'include_deleted' } }),
	};
}

/** Filters without a title have the labels of the records' fields. Objects are no filters, nor are lists without commas (rule 11). */
function describeFilters(operation: DescribedOperation, parameters: Parameter[]): Field[] {
	const recordFields = recordFieldsOf(operation);
	const labels = new Map(recordFields.map(({ name, label }) => [name, label]));
	return parameters.flatMap((parameter) => {
		const filter = parameterField(parameter);
		const { shape } = fieldKinds[filter.kind];
		if (shape === 'object' || (shape === 'list' && !takesSeveral(parameter))) return [];
		if (filter.linksTo) {
			// It is about the field that holds the links.
			const { name } = recordFields.find(({ linksTo }) => linksTo) ?? filter;
			return [{ ...filter, path: [name] }];
		}
		const label = parameter.schema.title === undefined ? labels.get(comparedBy(filter.name).name) : undefined;
		return label === undefined ? [filter] : [{ ...filter, label }];
	});
}

function parameterField({ name, description, required = false, schema }: Parameter): Field {
	// Names are not split: the dot and bracket of `created_at[gte]` belong to the parameter.
	const filter = field([name], schema.title ?? labelFor(comparedBy(name).name), schema, required);
	return { ...filter, name, description: description || filter.description };
}

/** Whether a list of values is separated by commas. */
const takesSeveral = ({ style = 'form', explode = true }: Parameter): boolean => style === 'form' && !explode;

/** A value of a record in a response. */
export interface RecordField extends Field {
	/** Whether only the service sets it. */
	isReadOnly: boolean;
}

/** Whether the values of a field are neither lists nor objects. */
export const isPlain = ({ kind }: Field): boolean => !['list', 'object'].includes(fieldKinds[kind].shape);

/** Names of fields with ids of other records, for descriptions that do not mark them. */
export const linkName = /(_ids?|[a-z]Ids?|[a-z]ID)$/;

/** The fields of the records that a list operation returns, in the order of the document. */
export function recordFieldsOf({ response }: DescribedOperation): RecordField[] {
	const record = response.properties?.data?.items;
	return Object.entries(record?.properties ?? {}).map(([name, schema]) =>
		({ ...field([name], schema.title ?? labelFor(name), schema, false), isReadOnly: schema.readOnly === true }));
}

/** Maximum fields of a simplified record (n8n's UX guidelines), not counting further links and custom fields. */
const summaryLength = 10;

/** The id, the first plain fields, all links, the time of the last change and the custom fields; empty if no fields are described. */
export function summaryFieldNames(fields: RecordField[], { changed }: Pick<ListDescription, 'changed'>): string[] {
	if (fields.length === 0) return [];
	const has = (fieldName?: string) => fields.filter(({ name }) => name === fieldName).map(({ name }) => name);
	const last = has(changed?.field);
	const plain = fields.filter((described) => isPlain(described) && !last.includes(described.name)).map(({ name }) => name);
	const first = [...new Set(['id', ...plain])].slice(0, summaryLength - last.length);
	const links = fields.filter((described) => isLink(described) || linkName.test(described.name)).map(({ name }) => name);
	return [...new Set([...first, ...links.filter((name) => !last.includes(name)), ...last, ...has(allCustomFields)])];
}
