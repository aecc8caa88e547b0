import type { GenericValue, IDataObject, INodeParameters } from 'n8n-workflow';
import ts from 'typescript';

/**
 * Writes the parameters of a node like a workflow builder that knows only the definition n8n provides: it takes
 * the type with the resource and operation, and fills in the members of the type.
 *
 * @param wish the task of the node, by the names of parameters; the fields of a record are written as JSON
 * @throws if the definition lacks a member for a part of the wish
 */
export function writeNode(definition: string, wish: IDataObject): INodeParameters {
	const file = ts.createSourceFile('definition.ts', definition, ts.ScriptTarget.Latest, true);
	const type = paramsOf(file, wish);
	if (!type) throw new Error(`The definition has no ${String(wish.resource)}: ${String(wish.operation)}.`);
	const fields = Object.keys((wish.fields as { value: IDataObject } | undefined)?.value ?? {});
	const unnamed = fields.filter((name) => !new RegExp(`\\b${name}\\b`).test(definition));
	if (unnamed.length > 0) throw new Error(`The definition does not name ${unnamed.join(', ')}.`);
	return filled(file, type, asJson(wish)) as INodeParameters;
}

type Members = ts.NodeArray<ts.TypeElement>;

/** The members of the type for the resource and operation, or of the only type. */
function paramsOf(file: ts.SourceFile, wish: IDataObject): Members | undefined {
	const types = file.statements.flatMap((statement): Members[] => {
		if (ts.isInterfaceDeclaration(statement)) return statement.name.text.endsWith('Params') ? [statement.members] : [];
		const isParams = ts.isTypeAliasDeclaration(statement) && statement.name.text.endsWith('Params');
		return isParams && ts.isTypeLiteralNode(statement.type) ? [statement.type.members] : [];
	});
	const says = (members: Members, name: string) =>
		members.some((member) => nameOf(member) === name && typeOf(member)?.getText(file) === `'${String(wish[name])}'`);
	return types.length === 1 ? types[0] : types.find((candidate) => says(candidate, 'resource') && says(candidate, 'operation'));
}

const nameOf = ({ name }: ts.TypeElement): string => (name && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : '');
const typeOf = (member: ts.TypeElement): ts.TypeNode | undefined => (ts.isPropertySignature(member) ? member.type : undefined);

function filled(file: ts.SourceFile, members: Members, wish: IDataObject): IDataObject {
	const typesByName = new Map(members.map((member) => [nameOf(member), typeOf(member)!]));
	const unknown = Object.keys(wish).filter((name) => !typesByName.has(name));
	if (unknown.length > 0) throw new Error(`The definition has no ${unknown.join(', ')}; it has ${[...typesByName.keys()].join(', ')}.`);
	return Object.fromEntries(Object.entries(wish).map(([name, value]) => [name, valueOf(file, typesByName.get(name)!, value)]));
}

function valueOf(file: ts.SourceFile, type: ts.TypeNode, value: unknown): GenericValue | IDataObject {
	const isObject = typeof value === 'object' && value !== null;
	if (ts.isTypeLiteralNode(type) && isObject) return filled(file, type.members, value as IDataObject);
	if (ts.isTypeReferenceNode(type) && type.typeName.getText(file) === 'Array' && Array.isArray(value)) {
		const [of] = type.typeArguments!;
		return value.map((item: unknown) => valueOf(file, of!, item));
	}
	const text = type.getText(file);
	const isExpression = typeof value === 'string' && value.startsWith('=');
	const literals = [...text.matchAll(/'((?:[^'\\]|\\.)*)'/g)].map(([, literal]) => literal);
	const isChoice = literals.length > 0 && !/\bstring\b|__rl/.test(text);
	if (isChoice && !isExpression && !literals.includes(String(value).replace('\t', '\\t'))) {
		throw new Error(`“${String(value)}” is not one of ${literals.join(', ')}.`);
	}
	return value as GenericValue;
}

/** The values of a form as one JSON object, as the definition's hint says; a builder cannot see the form's fields. */
function asJson({ fields, ...others }: IDataObject): IDataObject {
	if (fields === undefined) return others;
	const values = Object.entries((fields as { value: IDataObject }).value);
	const pairs = values.map(([name, value]) => `${JSON.stringify(name)}: ${asCode(value)}`);
	return { ...others, fieldsMode: 'json', fieldsJson: `={{ { ${pairs.join(', ')} } }}` };
}

/** A stored value as JavaScript: `=Call {{ $json.name }}` becomes `"Call " + ($json.name)`. */
function asCode(stored: unknown): string {
	if (typeof stored !== 'string' || !stored.startsWith('=')) return JSON.stringify(stored);
	const parts = stored.slice(1).split(/\{\{(.*?)\}\}/s);
	const code = parts.map((part, place) => (place % 2 === 1 ? `(${part.trim()})` : part === '' ? '' : JSON.stringify(part)));
	return code.filter((fragment) => fragment !== '').join(' + ');
}
