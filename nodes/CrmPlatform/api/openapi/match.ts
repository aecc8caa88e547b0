import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem, Schema } from './openapi';
import { alternativesOf, flatten, parameterChoices, parametersIn, schemaOf } from './schema';

/** The parameter that tells an upsert by which field to find the record. */
export interface MatchDescription {
	/** The query parameter that names the field. */
	name: string;
	/** The fields it is described with, the service's default first; empty where it takes any text. */
	values: string[];
	/** The field that is sent where none is chosen; without one, the service decides. */
	whenBlank?: string;
	/** Whether it takes other fields, too. */
	takesOthers?: true;
	/** Whether unique custom fields are among them. */
	takesCustomFields: boolean;
}

/** Usual names of the parameter, without separators. */
const usualName =
	/^(match|upsert|merge|dedupe|deduplicate|unique|conflict|lookup|identify|find)(ing|ed)?(on|by|key|field|property|attribute|column|with|using|target)?$|^(on|by|keyfield|keyproperty|onconflict|idproperty|identifier|idfield|matchonfield|uniqueidproperty|externalidfield)$/;

/** Parameters that name fields to return, not to match on. */
const otherUse = /^(fields?|select|include|expand|embed|sort|order|orderby|sortby|return(ing)?|response|view|properties|exclude|omit)/;

/**
 * The parameter that takes the field to match on: the one that says so by its name, otherwise the only one
 * whose values are fields of the record. Another one of several choices would find other records.
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
	const plainName = ({ name = '' }: OpenApiParameter) => name.toLowerCase().replace(/[^a-z]/g, '');
	const query = parametersIn(document, pathItem, operation, 'query').filter((parameter) => takesText(document, parameter));
	const choicesOf = (parameter: OpenApiParameter) => parameterChoices(document, parameter);
	const isField = (choice: string) => fields.length === 0 || fieldNames.has(choice);
	const takesFields = (parameter: OpenApiParameter) => choicesOf(parameter).length === 0 || choicesOf(parameter).some(isField);
	const named = query.filter((parameter) => usualName.test(plainName(parameter)) && takesFields(parameter));
	const byValues = query.filter(
		(parameter) => choicesOf(parameter).length > 0 && choicesOf(parameter).every(isField) && !otherUse.test(plainName(parameter)),
	);
	const both = named.filter((parameter) => byValues.includes(parameter));
	const custom = query.filter((parameter) => parameter['x-custom-fields'] !== undefined);
	const [only, ...others] = [custom, both, named, byValues].find((candidates) => candidates.length > 0) ?? [];
	if (only?.name === undefined || others.length > 0) return undefined;

	const choices = choicesOf(only);
	const { default: usual } = flatten(document, schemaOf(only));
	const values = typeof usual === 'string' ? [...new Set([usual, ...choices])] : choices;
	const [first] = values;
	const isStated = typeof usual === 'string' || only.required === true;
	return {
		name: only.name,
		values,
		...(isStated && first !== undefined && { whenBlank: first }),
		...(!isClosed(document, only) && { takesOthers: true }),
		takesCustomFields: only['x-custom-fields'] !== undefined,
	};
}

/** Whether the parameter takes its choices and nothing else. */
function isClosed(document: OpenApiDocument, parameter: OpenApiParameter): boolean {
	const schema = flatten(document, schemaOf(parameter));
	if (schema.enum ?? schema.const) return true;
	const alternatives = schema.items ? alternativesOf(document, schema.items) : alternativesOf(document, schema);
	// A pattern beside the choices is that of custom fields.
	const isCustom = ({ pattern }: Schema) => pattern !== undefined && parameter['x-custom-fields'] !== undefined;
	return alternatives.every((alternative) => (alternative.enum ?? alternative.const) !== undefined || isCustom(alternative));
}

function takesText(document: OpenApiDocument, parameter: OpenApiParameter): boolean {
	const schema = flatten(document, schemaOf(parameter));
	const types = [schema.items ? flatten(document, schema.items).type : schema.type].flat();
	return types.includes(undefined) || types.includes('string');
}
