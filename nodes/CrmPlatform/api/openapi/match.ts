import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem, Schema } from './openapi';
import { alternativesOf, flatten, parameterChoices, parametersIn, schemaOf } from './schema';

/** The parameter that tells an upsert which field identifies the record. */
export interface MatchDescription {
	/** The query parameter that names the field. */
	name: string;
	/** The fields in its description, the service's default first; empty if it takes any text. */
	values: string[];
	/** The field to send if the user chooses none; if absent, the service decides. */
	whenBlank?: string;
	/** Whether it takes other fields, too. */
	takesOthers?: true;
	/** Whether unique custom fields are among them. */
	takesCustomFields: boolean;
}

/** The parameter's usual names, without separators. */
const usualName =
	/^(match|upsert|merge|dedupe|deduplicate|unique|conflict|lookup|identify|find)(ing|ed)?(on|by|key|field|property|attribute|column|with|using|target)?$|^(on|by|keyfield|keyproperty|onconflict|idproperty|identifier|idfield|matchonfield|uniqueidproperty|externalidfield)$/;

/** Parameters that name fields to return, not to match on. */
const otherUse = /^(fields?|select|include|expand|embed|sort|order|orderby|sortby|return(ing)?|response|view|properties|exclude|omit)/;

/**
 * The parameter that takes the field to match on: its name says so, or it is the only one whose values are fields of the
 * record. A wrong guess among several would find other records.
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

/** Whether the parameter takes only its choices. */
function isClosed(document: OpenApiDocument, parameter: OpenApiParameter): boolean {
	const schema = flatten(document, schemaOf(parameter));
	if (schema.enum ?? schema.const) return true;
	const alternatives = alternativesOf(document, schema.items ?? schema);
	// Beside the choices, a pattern describes the names of custom fields.
	const isCustom = ({ pattern }: Schema) => pattern !== undefined && parameter['x-custom-fields'] !== undefined;
	return alternatives.every((alternative) => (alternative.enum ?? alternative.const) !== undefined || isCustom(alternative));
}

function takesText(document: OpenApiDocument, parameter: OpenApiParameter): boolean {
	const schema = flatten(document, schemaOf(parameter));
	const types = [flatten(document, schema.items ?? schema).type].flat();
	return types.includes(undefined) || types.includes('string');
}
