import { posix } from 'node:path';
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
		...wrong.map((violation) => `${violation.from} may not import ${violation.typeOnly ? 'types of ' : ''}${violation.to}`),
	];
}

/** The arrows between the parts of a design, so that `cycles` can follow them. */
export function arrowsOf(design: Record<string, Part>): Import[] {
	const names = Object.keys(design);
	return Object.entries(design).flatMap(([from, { imports, types = [] }]) =>
		names
			.filter((to) => to !== from && [...imports, ...types].some((name) => matches(to, name)))
			.map((to) => ({ from, name: to, to, typeOnly: false })),
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

/**
 * Every name that a file exports and another one has, too, with the files.
 *
 * @param counted what the other one does with it: declares it, for itself or for others, or exports it, too
 */
export function repeatedExports(sources: Sources, counted: 'declared' | 'exported' = 'declared'): string[] {
	const exporters = new Map<string, string>();
	const files = new Map<string, string[]>();
	for (const [file, text] of sources) {
		for (const [name, isExported] of declaredNames(file, text)) {
			if (isExported || counted === 'declared') files.set(name, [...(files.get(name) ?? []), file]);
			if (isExported) exporters.set(name, file);
		}
	}
	return [...files]
		.filter(([name, declaring]) => exporters.has(name) && declaring.length > 1)
		.map(([name, declaring]) => {
			const exporter = exporters.get(name)!;
			const others = declaring.filter((file) => file !== exporter);
			return `${name} of ${exporter} is also ${counted} in ${others.join(' and ')}`;
		});
}

/** Every base name that more than one file has, with the files. */
export function repeatedFileNames(files: Iterable<string>): string[] {
	const paths = new Map<string, string[]>();
	for (const file of files) {
		const name = posix.basename(file);
		paths.set(name, [...(paths.get(name) ?? []), file]);
	}
	return [...paths].filter(([, repeated]) => repeated.length > 1).map(([name, repeated]) => `${name}: ${repeated.join(' and ')}`);
}

/** The names a file declares at its top level, and whether it exports them; names of other files are left out. */
function declaredNames(file: string, text: string): Map<string, boolean> {
	const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
	// A type and a value of one name are one declaration.
	const names = new Map<string, boolean>();
	for (const statement of statements) {
		if (!ts.canHaveModifiers(statement)) continue;
		const isExported = ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
		const declarations = ts.isVariableStatement(statement)
			? statement.declarationList.declarations
			: [statement as unknown as ts.DeclarationStatement];
		for (const { name } of declarations) {
			if (name && ts.isIdentifier(name)) names.set(name.text, isExported || names.get(name.text) === true);
		}
	}
	return names;
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
