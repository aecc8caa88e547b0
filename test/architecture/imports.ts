import { posix } from 'node:path';
import ts from 'typescript';

/** One module another one is imported from. */
export interface Import {
	from: string;
	/** As it is written. */
	name: string;
	/** A file of the repository, or the name of a package (`node:` included). */
	to: string;
	/** Gone after compilation: nothing of `to` runs because of it. */
	typeOnly: boolean;
}

/** The text of every source file, by its path from the repository's root. */
export type Sources = ReadonlyMap<string, string>;

/** Every import in the sources: statements, re-exports, `import()`, `require()`, types. */
export function importsOf(sources: Sources): Import[] {
	return [...sources].flatMap(([from, text]) =>
		modulesNamedIn(from, text).map(({ name, typeOnly }) => ({ from, name, to: resolve(name, from, sources), typeOnly })),
	);
}

/** The name without a subpath, as it is installed: `zod` for `zod/v4`. */
function packageOf(name: string): string {
	if (name.startsWith('node:')) return name;
	return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

function resolve(name: string, from: string, sources: Sources): string {
	if (!name.startsWith('.')) return packageOf(name);
	const path = posix.join(posix.dirname(from), name);
	const endings = ['', '.ts', '/index.ts', '.js', '/index.js'];
	const implied = /\.\w+$/.test(path) ? path : `${path}.ts`;
	return endings.map((ending) => path + ending).find((file) => sources.has(file)) ?? implied;
}

function modulesNamedIn(file: string, text: string): Array<{ name: string; typeOnly: boolean }> {
	const found: Array<{ name: string; typeOnly: boolean }> = [];
	const visit = (node: ts.Node): void => {
		const named = moduleNamedBy(node);
		if (named && ts.isStringLiteralLike(named)) {
			found.push({ name: named.text, typeOnly: isTypeOnly(node) });
		}
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
	return found;
}

function moduleNamedBy(node: ts.Node): ts.Node | undefined {
	if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
	if (ts.isExternalModuleReference(node)) return node.expression;
	if (ts.isImportTypeNode(node)) {
		return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
	}
	if (!ts.isCallExpression(node)) return undefined;
	const { expression, arguments: callArguments } = node;
	const loads =
		expression.kind === ts.SyntaxKind.ImportKeyword ||
		(ts.isIdentifier(expression) && expression.text === 'require');
	return loads ? callArguments[0] : undefined;
}

function isTypeOnly(node: ts.Node): boolean {
	if (ts.isImportTypeNode(node)) return true;
	if (ts.isExportDeclaration(node)) return node.isTypeOnly;
	if (!ts.isImportDeclaration(node) || !node.importClause) return false;
	const { phaseModifier, name, namedBindings } = node.importClause;
	if (phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
	if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
	return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}
