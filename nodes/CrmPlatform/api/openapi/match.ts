import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem } from './openapi';
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
	const known = new Set([...fields, 'id']);
	const plainName = ({ name = '' }: OpenApiParameter) => name.toLowerCase().replace(/[^a-z]/g, '');
	const query = parametersIn(document, pathItem, operation, 'query').filter((one) => takesText(document, one));
	const choicesOf = (one: OpenApiParameter) => parameterChoices(document, one);
	const isField = (choice: string) => fields.length === 0 || known.has(choice);
	const takesFields = (one: OpenApiParameter) => choicesOf(one).length === 0 || choicesOf(one).some(isField);
	const named = query.filter((one) => usualName.test(plainName(one)) && takesFields(one));
	const byValues = query.filter(
		(one) => choicesOf(one).length > 0 && choicesOf(one).every(isField) && !otherUse.test(plainName(one)),
	);
	const both = named.filter((one) => byValues.includes(one));
	const custom = query.filter((one) => one['x-custom-fields'] !== undefined);
	const [only, ...others] = [custom, both, named, byValues].find((some) => some.length > 0) ?? [];
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
	const own = flatten(document, schemaOf(parameter));
	if (own.enum ?? own.const) return true;
	const some = own.items ? alternativesOf(document, own.items) : alternativesOf(document, own);
	return some.every((one) => (one.enum ?? one.const) !== undefined);
}

function takesText(document: OpenApiDocument, parameter: OpenApiParameter): boolean {
	const own = flatten(document, schemaOf(parameter));
	const types = [own.items ? flatten(document, own.items).type : own.type].flat();
	return types.includes(undefined) || types.includes('string');
}
