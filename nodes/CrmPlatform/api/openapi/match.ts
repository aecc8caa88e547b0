import type { OpenApiDocument, OpenApiOperation, PathItem } from './openapi';
import { flatten, parameterChoices, parametersIn, schemaOf } from './schema';

/** The parameter that tells an upsert which field identifies the record. */
export interface MatchDescription {
	/** The query parameter that names the field. */
	name: string;
	/** The fields that it lists, the service's default first. */
	values: string[];
	/** The field to send if the user chooses none; if absent, the service decides. */
	whenBlank?: string;
	/** Whether unique custom fields are among them. */
	takesCustomFields: boolean;
}

/** Whether an operation, such as a batch or a job, takes the same parameter: without it, other records would be found. */
export const takesMatch = (document: OpenApiDocument, pathItem: PathItem, operation: OpenApiOperation, match: MatchDescription): boolean =>
	parametersIn(document, pathItem, operation, 'query').some(({ name }) => name === match.name);

/** Parameters that list fields to return, not to match on. */
const otherUse = /^(fields?|select|include|expand|sort|order)/;

/**
 * The parameter that takes the field to match on (rule 10): the only one that lists fields of the record. A wrong guess
 * among several would find other records.
 *
 * @param fields names of the record's fields
 * @returns undefined if there is none, or several
 */
export function describeMatch(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
	fields: string[],
): MatchDescription | undefined {
	const fieldNames = new Set([...fields, 'id']);
	const isField = (choice: string) => fields.length === 0 || fieldNames.has(choice);
	const candidates = parametersIn(document, pathItem, operation, 'query').filter((parameter) => {
		const choices = parameterChoices(document, parameter);
		return choices.length > 0 && choices.every(isField) && !otherUse.test(parameter.name ?? '');
	});
	const [only, ...others] = candidates;
	if (only?.name === undefined || others.length > 0) return undefined;

	const { default: usual } = flatten(document, schemaOf(only));
	const choices = parameterChoices(document, only);
	const values = typeof usual === 'string' ? [...new Set([usual, ...choices])] : choices;
	const [first] = values;
	const isStated = typeof usual === 'string' || only.required === true;
	return {
		name: only.name,
		values,
		...(isStated && first !== undefined && { whenBlank: first }),
		takesCustomFields: only['x-custom-fields'] !== undefined,
	};
}
