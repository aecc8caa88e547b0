import { isObject } from '../../base/json';
import { lazily } from '../../base/ownMembers';
import { customFieldPrefix } from '../../fields/field';
import { keyword, memberReader, type OpenApiDocument } from './openapi';
import { namedValues, schemaAt, type Schema } from './schema';

/** Ours: the names of the account's custom fields, which are accepted in addition to the documented names. */
const customFieldNames = (json: unknown) => (json === `${customFieldPrefix}{key}` ? json : undefined);

const readParameter = memberReader({
	name: keyword.text,
	in: keyword.text,
	required: keyword.flag,
	description: keyword.text,
	schema: keyword.anything,
	style: keyword.text,
	explode: keyword.flag,
	'x-custom-fields': customFieldNames,
});

export interface Parameter extends Omit<ReturnType<typeof readParameter>, 'name' | 'in' | 'schema'> {
	name: string;
	schema: Schema;
}

const readBody = memberReader({ content: keyword.object });

const readOperation = memberReader({
	operationId: keyword.text,
	'x-batch': keyword.text,
	'x-job': (json) => {
		const { operationId, parameters } = keyword.object(json) ?? {};
		return { operationId: keyword.text(operationId), parameters: keyword.objectOf(keyword.text)(parameters) };
	},
	'x-custom-fields': customFieldNames,
	'x-custom-field-filters': keyword.objectOf(keyword.texts),
	'x-custom-field-lists': keyword.texts,
	parameters: keyword.list,
	requestBody: keyword.anything,
	responses: keyword.object,
});

/** An operation of the service. Its parts are read on demand: lists have dozens of parameters, and a write needs none of them. */
export interface DescribedOperation {
	query: Parameter[];
	headers: Parameter[];
	/** Whether its requests may be JSON, or have no body. */
	takesJson: boolean;
	/** Of the JSON in a request. */
	body: Schema;
	/** Of the JSON in a response of 200. */
	response: Schema;
	statuses: string[];
	/** Ours (`x-batch`): the operation that writes many records at once. */
	batch: NamedOperation | undefined;
	/** Ours (`x-job`): the operation that starts a background job, its parameters, and the operation that returns the results. */
	job: (NamedOperation & { parameters: Record<string, string>; results: DescribedOperation | undefined }) | undefined;
	/** Ours: whether the account's custom fields are accepted in addition to the documented names. */
	takesCustomFields: boolean;
	/** Ours: the comparisons that filters by custom fields have, by type of field. */
	customComparisons: Record<string, string[]> | undefined;
	/** Ours: the types of custom fields that are filtered by several values, separated by commas. */
	customLists: string[] | undefined;
}

interface NamedOperation {
	/** Path as the document writes it. */
	path: string;
	operation: DescribedOperation;
}

export type WritingVerb = 'post' | 'put' | 'patch' | 'delete';

const readPathItem = memberReader({
	parameters: keyword.list,
	get: keyword.object,
	post: keyword.object,
	put: keyword.object,
	patch: keyword.object,
	delete: keyword.object,
});

/**
 * An operation, by its path as the document writes it; undefined if the document lacks it. The parameters of its path come
 * before its own, which override them (OpenAPI 3.1, section 4.8.9).
 */
export function operationAt(document: OpenApiDocument, path: string | undefined, verb: 'get' | WritingVerb): DescribedOperation | undefined {
	const { parameters: shared = [], [verb]: json } = readPathItem(document, path === undefined ? undefined : document.paths[path]);
	if (!json) return undefined;
	const keywords = readOperation(document, json);
	const { parameters = [], responses = {} } = keywords;
	const parametersIn = (where: string) => {
		const all = [...shared, ...parameters].map((parameter) => readParameter(document, parameter));
		const byName = new Map<string, Parameter>();
		for (const { name, in: location, schema, ...more } of all) {
			if (location === where && name !== undefined) byName.set(name, { ...more, name, schema: schemaAt(document, schema) });
		}
		return [...byName.values()];
	};
	return lazily<DescribedOperation>({
		query: () => parametersIn('query'),
		headers: () => parametersIn('header'),
		takesJson: () => {
			const content = contentOf(document, keywords.requestBody);
			return Object.keys(content).length === 0 || jsonTypeIn(content) !== undefined;
		},
		body: () => bodyAt(document, keywords.requestBody),
		response: () => bodyAt(document, responses['200']),
		statuses: () => Object.keys(responses),
		batch: () => postNamed(document, keywords['x-batch']),
		job: () => {
			const job = postNamed(document, keywords['x-job']?.operationId);
			if (!job) return undefined;
			const isOfResults = (template: string) => template.startsWith(`${job.path}/{`) && template.endsWith('}/results');
			const results = operationAt(document, Object.keys(document.paths).find(isOfResults), 'get');
			return { ...job, parameters: keywords['x-job']?.parameters ?? {}, results };
		},
		takesCustomFields: () => keywords['x-custom-fields'] !== undefined,
		customComparisons: () => keywords['x-custom-field-filters'],
		customLists: () => keywords['x-custom-field-lists'],
	});
}

function bodyAt(document: OpenApiDocument, json: unknown): Schema {
	const content = contentOf(document, json);
	const body = content[jsonTypeIn(content) ?? ''];
	return schemaAt(document, isObject(body) ? body.schema : undefined);
}

/** What a body may be, by media type. */
const contentOf = (document: OpenApiDocument, body: unknown) => readBody(document, body).content ?? {};

const jsonTypeIn = (content: object): string | undefined =>
	Object.keys(content).find((type) => /^application\/json\s*(;|$)/i.test(type));

function postNamed(document: OpenApiDocument, operationId: string | undefined): NamedOperation | undefined {
	if (operationId === undefined) return undefined;
	const isNamed = (pathItem: unknown) => isObject(pathItem) && isObject(pathItem.post) && pathItem.post.operationId === operationId;
	const path = Object.keys(document.paths).find((template) => isNamed(document.paths[template]));
	const operation = operationAt(document, path, 'post');
	return path !== undefined && operation ? { path, operation } : undefined;
}

const isCalled = (usual: string) => ({ name }: Parameter): boolean => name.toLowerCase() === usual.toLowerCase();

/** Whether one of the parameters has this name, in any case. */
export const hasParameter = (parameters: Parameter[], usual: string): boolean => parameters.some(isCalled(usual));

/** The texts that a parameter accepts, alone or as a list. */
export function parameterChoices({ schema }: Parameter): string[] {
	const values = namedValues(schema);
	return (values.length > 0 ? values : namedValues(schema.items)).filter((value) => typeof value === 'string');
}

/**
 * The names that the connector looks for where the source of the API names nothing: rule 5 of docs/reference/service.md. Of several
 * that a description has, the first counts; a name that is not here is a filter, or unknown.
 */
const usualNames = {
	cursor: ['cursor', 'page_token', 'after'],
	// A limit beside a page size applies to the whole list.
	pageSize: ['page_size', 'per_page', 'limit'],
	sort: ['sort', 'order_by', 'order'],
	search: ['q', 'search', 'query'],
	fields: ['fields', 'select'],
	idempotencyKey: ['Idempotency-Key', 'X-Idempotency-Key'],
} as const;

/** The parameter with the first of a role's names, in any case. */
export const parameterFor = (role: keyof typeof usualNames, parameters: Parameter[]): Parameter | undefined =>
	usualNames[role].map((usual) => parameters.find(isCalled(usual))).find(Boolean);
