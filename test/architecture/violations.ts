import type { Part } from './design.ts';
import { importsOf, type Import, type Sources } from './imports.ts';

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
