import { NodeConnectionTypes } from 'n8n-workflow';
import ts from 'typescript';

/**
 * A node's source with its description written out: a linter cannot see what code assembles.
 *
 * @param source the text of the `.node.ts` file
 * @param description what the class holds at run time
 * @throws if the source has no class with a description
 */
export function withDescription(source: string, description: object): string {
	const file = ts.createSourceFile('', source, ts.ScriptTarget.Latest);
	const value = file.statements
		.filter(ts.isClassDeclaration)
		.flatMap(({ members }) => [...members])
		.filter(ts.isPropertyDeclaration)
		.find(({ name }) => name.getText(file) === 'description')?.initializer;
	if (!value) throw new Error('No class with a description in this source.');
	return source.slice(0, value.getStart(file)) + print(description) + source.slice(value.end);
}

/** A value as TypeScript; a connection as the constant that n8n's rules want to see. */
function print(value: unknown, key = ''): string {
	if (Array.isArray(value)) return `[\n${value.map((item) => `${print(item, key)},\n`).join('')}]`;
	if (typeof value === 'object' && value !== null) {
		const properties = Object.entries(value).map(([name, propertyValue]) => {
			const printed = /^[a-z]\w*$/i.test(name) ? name : JSON.stringify(name);
			return `${printed}: ${print(propertyValue, name)},\n`;
		});
		return `{\n${properties.join('')}}`;
	}
	const connection = Object.entries(NodeConnectionTypes).find(([, type]) => type === value)?.[0];
	const isConnection = (key === 'inputs' || key === 'outputs') && connection !== undefined;
	return isConnection ? `NodeConnectionTypes.${connection}` : JSON.stringify(value);
}
