import ts from 'typescript';

import { importsOf, type Import, type Sources } from './imports.ts';
import type { Part } from './part.ts';

/** Every import the design has no arrow for, and every file it has no part for, in words. */
export function brokenArrows(sources: Sources, design: Record<string, Part>): string[] {
	const parts = Object.entries(design);
	const partOf = (file: string) =>
		parts.find(([, { files }]) => files.some((pattern) => matches(file, pattern)))?.[0];

	const strays = [...sources.keys()].filter((file) => !partOf(file));
	const wrong = importsOf(sources).filter(({ from, to, typeOnly }) => {
		const part = partOf(from);
		if (!part) return false;
		const { imports = [], types = [] } = design[part] ?? {};
		const allowed = typeOnly ? [...imports, ...types] : imports;
		const target = partOf(to) ?? to;
		return target !== part && !allowed.some((name) => matches(target, name));
	});
	return [
		...strays.map((file) => `${file} belongs to no part of the design`),
		...wrong.map((one) => `${one.from} may not import ${one.typeOnly ? 'types of ' : ''}${one.to}`),
	];
}

/** The arrows between the parts of a design, so that `cycles` can follow them. */
export function arrowsOf(design: Record<string, Part>): Import[] {
	const names = Object.keys(design);
	return Object.entries(design).flatMap(([from, { imports, types = [] }]) =>
		names
			.filter((to) => to !== from && [...imports, ...types].some((name) => matches(to, name)))
			.map((to) => ({ from, to, typeOnly: false })),
	);
}

/** Every chain of files that leads back to where it began, such as `a → b → a`. */
export function cycles(imports: Import[]): string[] {
	const found: string[] = [];
	const done = new Set<string>();
	const follow = (file: string, path: string[]) => {
		const start = path.indexOf(file);
		if (start >= 0) found.push([...path.slice(start), file].join(' → '));
		if (start >= 0 || done.has(file)) return;
		for (const { from, to } of imports) if (from === file) follow(to, [...path, file]);
		done.add(file);
	};
	for (const { from } of imports) follow(from, []);
	return found;
}

/** Every file longer than `most` lines. */
export function longFiles(sources: Sources, most: number): string[] {
	return [...sources]
		.map(([file, text]) => [file, text.trimEnd().split('\n').length] as const)
		.filter(([, lines]) => lines > most)
		.map(([file, lines]) => `${file} has ${lines} lines`);
}

/** Every name that more than one file exports, with the files. */
export function repeatedExports(sources: Sources): string[] {
	const files = new Map<string, string[]>();
	for (const [file, text] of sources) {
		for (const name of exportedNames(file, text)) files.set(name, [...(files.get(name) ?? []), file]);
	}
	return [...files]
		.filter(([, exporters]) => exporters.length > 1)
		.map(([name, exporters]) => `${name} is exported by ${exporters.join(' and ')}`);
}

/** The names that a file declares and exports; names it passes on from other files are left out. */
function exportedNames(file: string, text: string): Set<string> {
	const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
	const declared = statements.filter(
		(statement) =>
			ts.canHaveModifiers(statement) &&
			ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
	);
	const names = declared.flatMap((statement) => {
		const declarations = ts.isVariableStatement(statement)
			? statement.declarationList.declarations
			: [statement as ts.DeclarationStatement];
		return declarations.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []));
	});
	// A type and a value of one name are one export.
	return new Set(names);
}

/** Every file whose path holds a word that says nothing. */
export function emptyNames(files: Iterable<string>): string[] {
	return [...files].filter((file) => /util|helper|common|manager/i.test(file));
}

function matches(path: string, pattern: string): boolean {
	const expression = pattern
		.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
		.replace(/\*+/g, (stars) => (stars === '**' ? '.*' : '[^/]*'));
	return new RegExp(`^${expression}$`).test(path);
}
